"""The encoder family of the lczero fork: each point a token (spec: other systems 3)."""
