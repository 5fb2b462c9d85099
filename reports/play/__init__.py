"""What came of games: matches, ratings, ladders, strength against loss.

Imports: results, stats, tables; ablations, gonn_core.
"""
