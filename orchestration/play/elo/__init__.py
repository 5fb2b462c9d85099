"""`gonn elo`: ladders of snapshots, played until their strength is known.

Imports: orchestration, play, study; reports, ablations, gonn_core.
"""
