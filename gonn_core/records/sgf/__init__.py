"""One SGF file -> games as numbers: the main line, setup stones, ranks, result, and a hash that symmetries leave alone.

Imports: go.
"""
