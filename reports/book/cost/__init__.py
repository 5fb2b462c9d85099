"""Gain and cost of every effect: table, figure, section.

Imports: book, figures, results, stats, study, tables; gonn_core.
"""
