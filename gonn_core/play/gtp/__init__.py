"""A trained net as a GTP engine: its commands, its session, its guard.

Imports: go, gonn_core, play, play.engines.
"""
