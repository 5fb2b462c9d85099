"""What inserted blocks need to know of a position, made from the planes on their device: stones, chains, what lies near
stones."""

from collections.abc import Callable, Iterable
from itertools import count

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.errors import SettingError
from gonn_core.go.points import POINTS, SIZE

STONES = ("own_stone", "opponent_stone")
"""The planes that it is made from; every plane set has them."""

NEAR = 3
"""Manhattan distance to a stone up to which a point is near it (spec: GoNN 3.2)."""


class BoardReader(nn.Module):
    """Finds the stone planes among `plane_names`, for `blocks` that need them. Raises SettingError when one is not
    there."""

    diamond: torch.Tensor
    """(1, 1, 7, 7) float32: 1 within the Manhattan distance NEAR of the middle."""

    def __init__(self, plane_names: tuple[str, ...], blocks: Iterable[str]):
        super().__init__()
        if not set(STONES) <= set(plane_names):
            raise SettingError(
                "net.trunk",
                ", ".join(blocks),
                "needs stones as input planes",
                f"planes that include {' and '.join(STONES)}",
            )
        own, opponent = (plane_names.index(name) for name in STONES)
        # one slice for both: a list of indices would be copied to the device in every pass, which waits for it
        first, step = min(own, opponent), abs(own - opponent)
        self._both, self._turned = slice(first, first + step + 1, step), opponent < own
        offset = torch.arange(-NEAR, NEAR + 1).abs()
        self.register_buffer("diamond", (offset[:, None] + offset <= NEAR).float()[None, None], persistent=False)

    def forward(self, planes: torch.Tensor) -> "Boards":
        """Planes (N, C, 19, 19) -> their boards."""
        stones = planes[:, self._both] > 0.5
        return Boards(stones.flip(1) if self._turned else stones, self.diamond)


class Boards:
    """The boards of a batch from `stones` (N, 2, 19, 19) bool, own and opponent's, and `BoardReader.diamond`; what no
    block asks for is not computed."""

    def __init__(self, stones: torch.Tensor, diamond: torch.Tensor):
        self.stones, self._diamond = stones, diamond
        self._known: dict[str, torch.Tensor] = {}  # no cached_property: Python 3.11 locks it, which no compiler traces

    @property
    def occupied(self) -> torch.Tensor:
        """(N, 1, 19, 19) float32: 1 on stones of either colour."""
        return self._once("occupied", lambda: self.stones.any(1, keepdim=True).float())

    @property
    def near(self) -> torch.Tensor:
        """(N, 1, 19, 19) float32: 1 where a stone lies within Manhattan distance 3, the point itself included."""
        return self._once("near", self._near)

    @property
    def chains(self) -> torch.Tensor:
        """(N, 361) int64: the first point (lowest index) of the chain that a stone belongs to; an empty point's own
        index."""
        return self._once("chains", self._chains)

    def _once(self, name: str, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    def _near(self) -> torch.Tensor:
        with torch.no_grad(), torch.autocast(self.stones.device.type, enabled=False):
            return (F.conv2d(self.occupied, self._diamond, padding=NEAR) > 0.5).float()

    def _chains(self) -> torch.Tensor:
        with torch.no_grad():
            if torch.compiler.is_compiling():
                return compiled_first_points(self.stones)
            return _chains_of(self.stones)


def _chains_of(stones: torch.Tensor) -> torch.Tensor:
    return _first_points(stones, 0 if stones.device.type == "cpu" else UNASKED_ROUNDS)


UNASKED_ROUNDS = 7
"""Rounds on a GPU before it is asked whether labels still fall, which waits for the device. No board that was tried
takes more: random ones of any density, mazes, spirals, rows joined to one long line."""


def _first_points(stones: torch.Tensor, unasked: int) -> torch.Tensor:
    """Chains by union of neighbours: a label is always a point of the same chain, and only falls.

    Each round a stone takes the lowest label next to it and hands it to the point it was labelled with; then labels
    follow their labels, so that a long chain needs few rounds. Rounds after the last that changes a label change
    nothing: so many are made `unasked`, each of the others only where the one before changed something.
    """
    boards = len(stones)
    labels = torch.arange(POINTS, device=stones.device).expand(boards, POINTS)
    beside = [(stones[:, :, :, :-1] & stones[:, :, :, 1:]).any(1), (stones[:, :, :-1] & stones[:, :, 1:]).any(1)]
    for number in count():
        lowest = labels.reshape(boards, SIZE, SIZE).clone()
        _spread(lowest, beside[0], 2)
        _spread(lowest, beside[1], 1)
        lowest = lowest.flatten(1)
        if number >= unasked and torch.equal(lowest, labels):
            return labels
        handed = lowest.scatter_reduce(1, labels, lowest, "amin")
        labels = handed.gather(1, handed)
    raise AssertionError("labels fall, and cannot fall for ever")


@torch.library.custom_op("gonn::first_points", mutates_args=())
def compiled_first_points(stones: torch.Tensor) -> torch.Tensor:
    """(N, 2, 19, 19) bool -> `Boards.chains` as one operation to a compiler: how many rounds it takes is read on the
    host."""
    return _chains_of(stones).clone()  # an operation's result is its own


@compiled_first_points.register_fake
def _(stones: torch.Tensor) -> torch.Tensor:
    return stones.new_empty((len(stones), POINTS), dtype=torch.int64)


def _spread(labels: torch.Tensor, joined: torch.Tensor, dim: int) -> None:
    """Lowers, in place, the labels of neighbours along `dim` that are `joined` to the lower of the two."""
    first, second = labels.narrow(dim, 0, SIZE - 1), labels.narrow(dim, 1, SIZE - 1)
    lower = torch.minimum(first, second).masked_fill_(~joined, POINTS)
    first.copy_(torch.minimum(first, lower))
    second.copy_(torch.minimum(second, lower))
