"""One trial: its job, directory, lease and run. `python -m gonn_core.trial job.json` runs one anywhere."""
