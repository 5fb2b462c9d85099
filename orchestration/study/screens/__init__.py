"""`DESIGN=screen`: from what was asked for to arms and seeds, and what a plan shows of it.

Imports: experiment, search, study; reports, ablations, gonn_core.
"""
