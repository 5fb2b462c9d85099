"""The state of a workspace and what may go: `gonn status`, `gonn clean`.

Imports: experiment, orchestration, search, study; reports, ablations, gonn_core.
"""
