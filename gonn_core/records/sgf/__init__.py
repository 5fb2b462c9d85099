"""SGF files as numbers: games, root properties, a hash that turning does not change.

Imports `records.layout` and go.
"""
