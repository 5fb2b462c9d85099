"""Evaluation of trained nets: metrics per position on a subset of whole games, with an identity of its own; probes."""
