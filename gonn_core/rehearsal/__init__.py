"""A training step and an evaluation of any configuration on a device that pretends: what runs, how much memory is
taken.

`process.rehearse_apart` does it in a process of its own; `rehearse.rehearse` here, once a process. Nothing of it ran on
a GPU, and nothing has times.

Imports: evaluation, features, gonn_core, nets, training.
"""
