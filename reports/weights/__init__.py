"""Looks inside trained nets: weights by layer, channels before pooling, and what is kept of them.

Imports: reports, results; ablations, gonn_core.
"""
