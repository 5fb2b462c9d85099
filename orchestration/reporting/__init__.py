"""Reports written, shown and recorded: `gonn report`, `gonn sync`, `gonn ui`.

Imports: experiment, orchestration, search, study, tracking; reports, ablations, gonn_core.
"""
