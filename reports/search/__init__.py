"""What a learning-rate search found: curve, table, figure.

Imports stats, tables and figures.
"""
