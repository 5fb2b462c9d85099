"""Nets that play: matches, self-play, ratings, and the engine that controllers talk to.

Imports experiment, study (whose trials play) and reporting (whose report tells of play).
"""
