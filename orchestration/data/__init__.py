"""Data sets of a workspace: `gonn data list|build|fetch`, and the store that a command's trials need.

Imports ablations and gonn_core, and of orchestration only what serves every room.
"""
