"""`gonn data`: data sets, stores, archives.

Imports ablations and gonn_core.
"""
