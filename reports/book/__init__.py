"""The report over everything: a section a module, all written by `book`.

Imports: book.cost, book.documents, claims, figures, frames, play, reports, results, search, stats, study, summary,
tables, weights; ablations, gonn_core.
"""
