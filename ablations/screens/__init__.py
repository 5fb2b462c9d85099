"""Screens: many enhancements varied at once in few runs, as `DESIGN=screen` has it; which of them, in which arms, and
what such a design cannot tell apart.

Imports: ablations, catalogue; gonn_core.
"""
