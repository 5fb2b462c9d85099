"""A trained net as a GTP engine: its commands, its session, analysis, files of games, its guard.

Imports: files, go, gonn_core, play, play.engines, records.archives, records.sgf.
"""
