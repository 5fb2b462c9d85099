"""One game: its rules and positions, how a net chooses a move, how a game is counted and written down.

Imports go, features and evaluation. Rooms of it that import it, and not each other but for engines: `engines` (GTP
programs that are asked), `match` (games of two players on disk), `gtp` (our net as a program that is asked).
"""
