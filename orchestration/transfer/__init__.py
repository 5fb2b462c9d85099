"""`gonn import`: trial directories from other machines, checked before they are taken over.

Imports gonn_core alone, and of orchestration only what serves every room.
"""
