"""How strong players are, from matches on disk: points and games, Bradley and Terry's ratings, intervals of shares.

Imports: files, gonn_core, play.match.
"""
