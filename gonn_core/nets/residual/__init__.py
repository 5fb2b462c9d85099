"""Residual nets of Cazenave 2017 (spec: other systems 4)."""
