"""Studies: from a request to a plan, its trials and its table; what else is asked of trained trials.

Imports: data, experiment, orchestration, runners, search, speeds, tracking; reports, ablations, gonn_core.
"""
