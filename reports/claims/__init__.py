"""The documents' claims beside what was found here.

Imports stats, tables, and what each kind of claim is measured by: study, probes, weights, play.
"""
