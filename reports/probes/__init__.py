"""What trained nets answer in positions whose answer is known: scores, tables, pictures.

Imports: results, stats, tables; ablations, gonn_core.
"""
