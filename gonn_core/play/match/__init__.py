"""Matches: batched games between nets, refereed games with engines, their record on disk.

Imports play, engines, and trial for the nets' weights.
"""
