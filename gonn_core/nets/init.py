"""Initial weights: truncated normal draws, each a pure function of (init_seed, name of the tensor, part of it).

Arms of a comparison that share a seed must start from the same weights wherever both have them. So nothing is drawn
from one running
stream: every tensor has a Philox stream of its own, keyed by its stable name, and row r of a tensor is the same however
many rows follow it. All arithmetic here is +, -, * and / on float64, rounded once to float32: the same bits on every
CPU and thread count.
"""

import hashlib
import json

import numpy as np
import torch

_HALF_MASS = 0.4772498680518208
"""Probability that a normal draw lies between 0 and 2 sigma."""
TRUNCATED_DEVIATION = 0.8796256610342398
"""Standard deviation of a standard normal cut at 2 sigma, as all draws here are."""

# fmt: off
_NUMERATOR = (2.506628274711926, -37.26501019975685, 216.72677247665143, -615.9228073755821,
              862.4721398276674, -509.41197461443977, 67.67561594812668)
_DENOMINATOR = (1.0, -15.913785681507607, 100.82344074705487, -320.9021291601811,
                528.6400276640861, -409.14258168738206, 105.03537177767267)
# fmt: on
_CHUNK = 1 << 15


def truncated_normal(uniform: np.ndarray) -> np.ndarray:
    """Standard normal cut at 2 sigma from `uniform` in (0, 1): the inverse of its distribution function, float64.

    Equal in law to drawing again whatever falls outside 2 sigma; its standard deviation is 0.8796. A rational function
    of our own fit, within 1e-10 of the true inverse: no logarithm, whose last bit would depend on the machine.
    """
    q = (uniform - 0.5) * (2 * _HALF_MASS)
    r = q * q
    return q * _polynomial(_NUMERATOR, r) / _polynomial(_DENOMINATOR, r)


def _polynomial(coefficients, r: np.ndarray) -> np.ndarray:
    total = np.full_like(r, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= r
        total += coefficient
    return total


class Draws:
    """The initial weights of one seed."""

    def __init__(self, init_seed: int):
        self.init_seed = init_seed

    def he(self, name: str, shape: tuple[int, ...], fan_in: float, part: str = "") -> np.ndarray:
        """Float64 array of `shape`: truncated normal times sqrt(2 / fan_in) (He; spec: GoNN 2.6) for `part` of the
        tensor `name`."""
        sigma = np.sqrt(2.0 / fan_in)
        key = hashlib.blake2b(json.dumps([self.init_seed, name, part]).encode(), digest_size=16).digest()
        stream = np.random.Philox(key=int.from_bytes(key, "little"))
        values = np.empty(int(np.prod(shape)))
        for start in range(0, len(values), _CHUNK):  # in pieces that stay in the cache
            piece = values[start : start + _CHUNK]
            uniform = ((stream.random_raw(len(piece)) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
            piece[:] = truncated_normal(uniform) * sigma
        return values.reshape(shape)


class ShapesOnly(Draws):
    """Stands in for `Draws` where only shapes matter (counting parameters): zeros."""

    def __init__(self) -> None:
        super().__init__(0)

    def he(self, name: str, shape: tuple[int, ...], fan_in: float, part: str = "") -> np.ndarray:
        return np.zeros(shape, np.float32)


def block_kernel(
    draws: Draws, name: str, *, in_channels: int, out_channels: int, center_init: float
) -> torch.nn.Parameter:
    """A block's 3x3 kernel (out_channels, in_channels, 3, 3): He, plus `center_init` times a 1x1 He draw on the
    centre tap (spec: GoNN 2.6).

    The extra has a name of its own, so with and without it the other taps, and the base draw of the centre, are the
    same.
    """
    kernel = draws.he(name, (out_channels, in_channels, 3, 3), 9 * in_channels)
    if center_init:
        kernel[:, :, 1, 1] += center_init * draws.he(f"{name}.center", (out_channels, in_channels), in_channels)
    return parameter(kernel)


def parameter(values: np.ndarray) -> torch.nn.Parameter:
    """Trainable float32 parameter from an array of numbers."""
    return torch.nn.Parameter(torch.from_numpy(values.astype(np.float32, copy=False)))


def constant(channels: int, value: float) -> torch.nn.Parameter:
    """Trainable float32 vector that starts at one value."""
    return torch.nn.Parameter(torch.full((channels,), float(value)))
