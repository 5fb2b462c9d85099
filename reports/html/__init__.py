"""Pages that a browser opens without a server: one file each, with its style, scripts, numbers and pictures.

Imports: book, claims, figures, reports, results, screen, stats, study, summary, tables; ablations, gonn_core.
"""
