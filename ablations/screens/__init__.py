"""Screens: many enhancements varied at once in few runs, as `DESIGN=screen` has it; which of them, and in which arms.

Imports: ablations, catalogue; gonn_core.
"""
