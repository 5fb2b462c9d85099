"""What is known of bases before anything ran here: how fast they train beside a reference net, how fast they are
evaluated, and how noisy their differences are. Measured; `python -m benchmarks.expected` writes the table.

Imports: ablations; gonn_core.
"""
