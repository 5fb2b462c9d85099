"""Random numbers of games: pure functions of the match's seed and the game, nothing global."""

import numpy as np

_DRAWS, _OPENING = 1, 2  # what a stream is for


def game_draws(seed: int, game: int, moves: int) -> np.ndarray:
    """(moves,) float64 in [0, 1): draw m decides move m, counted from 0, of game number `game`. A longer array begins
    with a shorter one."""
    return _stream(seed, game, _DRAWS).random(moves)


def opening_stream(seed: int, opening: int) -> np.random.Generator:
    """What the opening with that number is drawn from."""
    return _stream(seed, opening, _OPENING)


def _stream(seed: int, number: int, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, number, purpose])))
