"""The report of one study: its tables and notes, its page, its files.

Imports: claims, figures, html, play, probes, reports, results, screen, stats, tables, worth; ablations, gonn_core.
"""
