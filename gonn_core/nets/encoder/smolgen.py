"""Attention logits made from the whole position, in every layer anew (spec: other systems 3.3, 3.4).

Each layer makes a short code of the position for each head; maps, shared by all layers or a layer's own, turn a code
into 361x361 logits.
full: the code sees all points in their places, and the maps are dense. relative: the code sees their mean, and the maps
know offsets only.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.encoder.attention import OFFSETS, offsets_at_pairs
from gonn_core.nets.encoder.parts import ACTIVATIONS, Dense, LayerNorm, fan_average
from gonn_core.nets.init import Draws, parameter
from gonn_core.settings.net import EncoderConfig

EPSILON = 1e-3
"""Of the norms here (Keras' default)."""

FREQUENCIES = 16
TEMPLATE_HIDDEN = 128
"""Of the net that makes templates from Fourier features of the offsets, as in KataGo's published nets."""


class SmolgenCode(nn.Module):
    """Tokens (N, 361, width) -> codes (N, heads, code): each point to a few channels, then two dense maps, activations,
    norms."""

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        channels, hidden, self.code = encoder.smolgen_sizes
        self.heads, self.pooled = encoder.heads, encoder.smolgen == "relative"
        self.activation = ACTIVATIONS[encoder.smolgen_activation]
        self.compress = Dense(draws, f"{name}.compress", in_features=encoder.width, out_features=channels, bias=False)
        self.hidden = Dense(
            draws,
            f"{name}.hidden",
            in_features=channels if self.pooled else POINTS * channels,
            out_features=hidden,
            times=1,
        )
        self.hidden_norm = LayerNorm(hidden, EPSILON)
        self.codes = Dense(draws, f"{name}.codes", in_features=hidden, out_features=self.heads * self.code, times=1)
        self.codes_norm = LayerNorm(self.heads * self.code, EPSILON)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.compress(x)
        y = y.mean(1) if self.pooled else y.flatten(1)
        y = self.hidden_norm(self.activation(self.hidden(y)))
        return self.codes_norm(self.activation(self.codes(y))).unflatten(1, (self.heads, self.code))

    def multiply_adds(self) -> int:
        """Its own, and those of the maps that its codes are given to."""
        own = sum(part.multiply_adds() for part in (self.compress, self.hidden, self.codes))
        return own + self.heads * self.code * (OFFSETS**2 if self.pooled else POINTS**2)


ToLogits = Callable[[torch.Tensor], torch.Tensor]
"""Codes (N, heads, code) -> logits (N, heads, 361, 361)."""


class SmolgenMaps(nn.Module):
    """What turns codes into logits."""

    def to_logits(self) -> ToLogits:
        """For one batch: what the codes of every layer share is made here, once."""
        raise NotImplementedError


class FullMaps(SmolgenMaps):
    """Logits by one dense map without bias.

    Its kernel is (code, 361 * 361), the long side last: six times as fast to differentiate on a CPU as the other way
    round.
    """

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        code = encoder.smolgen_sizes[2]
        self.kernel = parameter(fan_average(draws, f"{name}.kernel", (code, POINTS * POINTS), POINTS * POINTS + code))

    def to_logits(self) -> ToLogits:
        return lambda codes: (codes @ self.kernel).unflatten(2, (POINTS, POINTS))

    def multiply_adds(self) -> int:
        return 0  # counted where a code is made: once a layer


class RelativeMaps(SmolgenMaps):
    """Logits as a mixture of `code` templates over the offset from point to point.

    A template's value at an offset comes from a small net on sines and cosines of the offset's rows, columns, sum and
    difference. Frequencies, in radians a line, go geometrically from pi/18 to pi; weights start as Glorot draws (both
    ours).
    """

    features: torch.Tensor

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        # times=0: once a batch, whatever its size
        self.hidden = Dense(draws, f"{name}.hidden", in_features=8 * FREQUENCIES, out_features=TEMPLATE_HIDDEN, times=0)
        self.templates = Dense(
            draws,
            f"{name}.templates",
            in_features=TEMPLATE_HIDDEN,
            out_features=encoder.smolgen_sizes[2],
            times=0,
        )
        self.register_buffer("features", _fourier_features(), persistent=False)

    def to_logits(self) -> ToLogits:
        templates = self.templates(F.silu(self.hidden(self.features))).mT  # (code, 1369)
        return lambda codes: offsets_at_pairs((codes @ templates).unflatten(2, (OFFSETS, OFFSETS)))


MAPS: dict[str, type[SmolgenMaps]] = {"full": FullMaps, "relative": RelativeMaps}
"""`smolgen` -> the maps that turn codes into logits."""


def _fourier_features() -> torch.Tensor:
    """(1369, 128) float32: for each offset, in the order of a table's rows, 16 sines and 16 cosines of each of four
    directions."""
    line = torch.arange(OFFSETS, dtype=torch.float64) - (SIZE - 1)
    rows, columns = (axis.flatten() for axis in torch.meshgrid(line, line, indexing="ij"))
    frequencies = torch.pi * torch.logspace(-1, 0, FREQUENCIES, base=SIZE - 1, dtype=torch.float64)
    angles = torch.stack((rows, columns, rows + columns, rows - columns), 1)[:, :, None] * frequencies
    return torch.cat((angles.sin(), angles.cos()), 2).flatten(1).float()
