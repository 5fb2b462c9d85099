"""Losses and effects over numbers of samples: curves of controls, the course of each effect, what may lie beyond.

Imports: book, figures, reports, results, stats, study, tables, worth; ablations.
"""
