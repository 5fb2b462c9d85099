"""The documents' claims beside what was found here.

Imports stats, tables, results, and what each kind of claim is measured by: probes, weights, play.
"""
