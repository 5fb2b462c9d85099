"""The report over everything: a section a module, all written by `book`.

Imports: book.cost, book.documents, claims, figures, frames, html, play, reports, results, scaling, search,
study, summary, tables, weights, worth; ablations, gonn_core.
"""
