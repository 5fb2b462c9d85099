"""Studies that look at their results as seeds come in: what was asked for, the level of each look, arms that stop.

Imports: experiment, study; reports, ablations, gonn_core.
"""
