"""The report of one study: its tables and notes, its page, its files.

Imports stats, tables, results, play, probes, claims and figures.
"""
