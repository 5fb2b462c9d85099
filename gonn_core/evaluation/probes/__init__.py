"""Probes: positions in which the right or wrong moves are known, and what a net answers there.

`cases` says what a case is, `suite` has the documents' test positions and the drawn families, `ladders` cuts ladders
from games, `measure` asks a net, `stored` scores its answers and keeps them. `gonn_core.trial.evaluations` asks a
trial's net.
"""
