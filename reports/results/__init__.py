"""What trials left behind, read and compared: results of a study, sums by game, effects, costs, nets, seed noise.

Imports stats and tables.
"""
