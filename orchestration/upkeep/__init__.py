"""The state of a workspace and what may go: `gonn status`, `gonn clean`.

Imports: experiment, orchestration, search, study; ablations, gonn_core.
"""
