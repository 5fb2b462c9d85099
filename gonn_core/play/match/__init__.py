"""Matches: their players, the loop that plays games, their record on disk."""
