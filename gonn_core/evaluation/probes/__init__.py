"""Probes: positions in which the right or wrong moves are known, and what a net answers there.

`suite` has the cases: the documents' test positions, drawn families, and ladders from games. `measure`
evaluates a net on them, `stored` scores its answers and keeps them. `gonn_core.trial.evaluations` does so for a trial.
"""
