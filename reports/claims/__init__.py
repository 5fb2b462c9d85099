"""The documents' claims beside what was found here: a measure for each source of numbers, and the table.

Imports: play, probes, results, stats, tables, weights; ablations, gonn_core.
"""
