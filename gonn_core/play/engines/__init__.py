"""GTP engines as opponents: processes, their boards, players made of them.

Imports `play.game`.
"""
