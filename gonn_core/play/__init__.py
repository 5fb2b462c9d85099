"""Play: games, move choice, net players, GTP engines, matches."""
