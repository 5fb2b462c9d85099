"""The state of a workspace and what may go: `gonn status`, `gonn clean`.

Imports study, search and experiment.
"""
