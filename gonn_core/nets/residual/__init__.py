"""Residual nets of Cazenave 2017 (spec: other systems 4).

Imports: go, gonn_core, nets, nets.parts, settings.
"""
