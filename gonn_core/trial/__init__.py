"""One trial: its job, its directory, its lease, and how it is run. `python -m gonn_core.trial job.json` runs one
anywhere.
"""
