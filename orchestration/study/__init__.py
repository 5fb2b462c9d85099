"""Studies: from a request to a plan, its trials and its table; what else is asked of trained trials.

Imports: data, experiment, looks, orchestration, runners, search, speeds, study.screens, tracking; reports, ablations,
gonn_core.
"""
