"""What a trained net is worth: metrics per position on a subset of whole games, with an identity of their own; probes.

Imports: files, go, gonn_core, nets, records, settings, training.
"""
