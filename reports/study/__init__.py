"""One study: its results, its tables and notes, its pages and files.

Imports stats, tables, claims, probes, play and figures.
"""
