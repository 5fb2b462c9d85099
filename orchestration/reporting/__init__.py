"""Reports made, shown and recorded: `gonn report`, `gonn ui`, `gonn sync`.

Imports: experiment, orchestration, search, study, tracking; reports, ablations, gonn_core.
"""
