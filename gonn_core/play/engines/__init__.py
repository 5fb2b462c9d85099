"""GTP engines as opponents: their processes and boards, players made of them, their games with themselves.

Imports: go, gonn_core, play.
"""
