"""What trials left behind, read and compared: results of a study, all runs of a base, effects of a page, costs, nets.

Imports: reports, stats, tables; ablations, gonn_core.
"""
