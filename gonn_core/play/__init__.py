"""One game: its rules and positions, how a net chooses a move, how a game is counted and written down.

Three rooms build on it: `engines` (GTP programs that are asked), `match` (games of two players, on disk) and `gtp` (our
net as a program that is asked).
"""
