"""How figures look, and the figure of a study.

Imports stats, tables, results and claims. matplotlib is imported when something is drawn.
"""
