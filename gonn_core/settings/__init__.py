"""The parts of `gonn_core.config.TrialConfig`, and which values go together. Plain data, checked without the kernels.

Imports nothing of this project.
"""
