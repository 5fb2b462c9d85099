"""Matches: batched games between nets, refereed games with engines, their record on disk.

Imports play and engines.
"""
