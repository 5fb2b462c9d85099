"""What trials left behind, read and compared: results of a study, sums by game, effects, costs, nets, seed noise.

Imports: reports, stats, tables; ablations, gonn_core.
"""
