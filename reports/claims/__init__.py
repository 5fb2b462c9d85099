"""The documents' claims beside what was found here: a measure for each source of numbers, and the table.

Imports stats, tables, results, and what each kind of claim is measured by: probes, weights, play.
"""
