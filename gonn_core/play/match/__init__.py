"""Matches: batched games between nets, refereed games with engines, their record on disk.

Imports: evaluation, files, go, gonn_core, play, play.engines, settings, training, trial.
"""
