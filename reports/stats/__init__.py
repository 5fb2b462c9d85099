"""Estimates, noise, intervals and verdicts: numbers in, numbers and words out.

Imports: ablations, gonn_core.
"""
