"""From planes to tokens: a dense map at each point, the point's code, gate and position (spec: other systems 3.2,
3.5)."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.encoder.parts import factor_not_negative, fan_average
from gonn_core.nets.gonn.stem import PUBLISHED_PLANES
from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.settings.net import EncoderConfig

NEIGHBOURHOOD = ((0, 1), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3))
"""Rows and columns, up to sign and order, from a point to what it can make shape with: adjacent, diagonal, one- and
two-space jump, knight's and large knight's move."""


def arc_codes() -> torch.Tensor:
    """(361, 361) float32: row p is the code of point p, -1 at p itself, 1 at each point of its neighbourhood, 0
    elsewhere."""
    row, column = np.divmod(np.arange(POINTS), SIZE)
    rows, columns = (abs(axis[:, None] - axis) for axis in (row, column))
    near, far = np.minimum(rows, columns), np.maximum(rows, columns)
    codes = sum(((near == a) & (far == b)).astype(np.float32) for a, b in NEIGHBOURHOOD)
    return torch.from_numpy(codes - np.eye(POINTS, dtype=np.float32))


class EncoderStem(nn.Module):
    """Planes (N, C, 19, 19) -> (N, 361, width), weights drawn per plane by its name."""

    def __init__(self, draws: Draws, name: str, width: int, plane_names: tuple[str, ...]):
        super().__init__()
        # fans count the published planes, whatever planes there are: dropping one leaves the others' weights as they
        # are
        columns = [
            fan_average(draws, f"{name}.kernel", (width,), PUBLISHED_PLANES + width, part=plane)
            for plane in plane_names
        ]
        self.kernel = parameter(np.stack(columns, 1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return F.linear(planes.flatten(2).mT, self.kernel)

    def multiply_adds(self) -> int:
        return POINTS * self.kernel.numel()


class ArcCode(nn.Module):
    """What the stem's dense map makes of the points' codes: (361, width), the same for every position, so made once a
    batch."""

    codes: torch.Tensor

    def __init__(self, draws: Draws, name: str, width: int):
        super().__init__()
        self.register_buffer("codes", arc_codes(), persistent=False)
        self.kernel = parameter(
            fan_average(draws, f"{name}.kernel", (width, POINTS), PUBLISHED_PLANES + POINTS + width)
        )

    def forward(self) -> torch.Tensor:
        return F.linear(self.codes, self.kernel)

    def multiply_adds(self) -> int:
        return 0


class PointGate(nn.Module):
    """gamma x + beta, both (361, width): beta, the learned position, starts at 0; gamma, if there is one, at 1 and is
    never negative."""

    def __init__(self, width: int, multiplied: bool):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(POINTS, width)) if multiplied else None
        self.beta = nn.Parameter(torch.zeros(POINTS, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x if self.gamma is None else x * factor_not_negative(self, self.gamma)) + self.beta

    def multiply_adds(self) -> int:
        return 0  # per element: no matrix


class Embedding(nn.Module):
    """What the stem makes of the planes (N, 361, width) -> tokens, the same shape: gate(relu(x + arc code + bias))."""

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        self.bias = constant(encoder.width, 0.0)
        self.arc_code = ArcCode(draws, f"{name}.arc_code", encoder.width) if encoder.arc_code else None
        self.gate = PointGate(encoder.width, encoder.input_gate)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added = self.bias if self.arc_code is None else self.bias + self.arc_code()
        return self.gate(F.relu(x + added))
