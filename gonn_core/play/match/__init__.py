"""Matches: their players, the loop that plays games, their record on disk.

Imports: evaluation, files, go, gonn_core, play, play.engines, settings, training, trial.
"""
