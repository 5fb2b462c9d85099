"""Studies that look at their results as seeds come in: what was asked for, looks taken before, arms that stop.

Imports: experiment; reports, ablations, gonn_core.
"""
