"""Figures and their panels; a figure is drawn again only when something in it changed.

Imports stats, tables, study and claims. matplotlib is imported when something is drawn.
"""
