"""What a learning-rate search found: curve, table, figure.

Imports: figures, reports, stats, tables; ablations, gonn_core.
"""
