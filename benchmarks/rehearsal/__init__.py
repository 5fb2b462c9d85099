"""Every base and every card's arms on a device that pretends: `python -m benchmarks.rehearsal`, a table."""
