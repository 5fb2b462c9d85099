"""`gonn elo`: ladders of snapshots, played until their strength is known.

Imports its parent and reports.play.
"""
