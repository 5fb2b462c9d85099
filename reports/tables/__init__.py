"""Tables as plain data, and how numbers are written in them.

Imports: stats; gonn_core.
"""
