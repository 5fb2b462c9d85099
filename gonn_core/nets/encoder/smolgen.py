"""Attention logits made from the whole position, in every layer anew (spec: other systems 3.3, 3.4).

Each layer makes a short code of the position for each head; maps shared by all layers turn a code into 361x361 logits.
full: the code sees all points in their places, and the maps are dense. relative: the code sees their mean, and the maps
know offsets only.
"""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.encoder.attention_tables import OFFSETS, offsets_at_pairs
from gonn_core.nets.encoder.parts import ACTIVATIONS, Dense, LayerNorm, fan_average
from gonn_core.nets.init import parameter
from gonn_core.settings.encoder_net import EncoderConfig

EPSILON = 1e-3
"""Of the norms here (Keras' default)."""

FREQUENCIES = 16
TEMPLATE_HIDDEN = 128
"""Of the net that makes templates from Fourier features of the offsets, as in KataGo's published nets."""


class SmolgenCode(nn.Module):
    """Tokens (N, 361, width) -> codes (N, heads, code): each point to a few channels, then two dense maps, activations,
    norms."""

    def __init__(self, draws, name: str, encoder: EncoderConfig):
        super().__init__()
        channels, hidden, self.code = encoder.smolgen_sizes
        self.heads, self.pooled = encoder.heads, encoder.smolgen == "relative"
        self.activation = ACTIVATIONS[encoder.smolgen_activation]
        self.compress = Dense(draws, f"{name}.compress", encoder.width, channels, bias=False)
        self.hidden = Dense(draws, f"{name}.hidden", channels if self.pooled else POINTS * channels, hidden, times=1)
        self.hidden_norm = LayerNorm(hidden, EPSILON)
        self.codes = Dense(draws, f"{name}.codes", hidden, self.heads * self.code, times=1)
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


class FullMaps(nn.Module):
    """Codes (N, heads, code) -> logits (N, heads, 361, 361), by one dense map without bias.

    Its kernel is (code, 361 * 361), the long side last: six times as fast to differentiate on a CPU as the other way
    round.
    """

    def __init__(self, draws, name: str, encoder: EncoderConfig):
        super().__init__()
        code = encoder.smolgen_sizes[2]
        self.kernel = parameter(fan_average(draws, f"{name}.kernel", (code, POINTS * POINTS), POINTS * POINTS + code))

    def maps(self) -> torch.Tensor:
        """What `logits` wants of this module; made once a batch, used by all layers."""
        return self.kernel

    @staticmethod
    def logits(codes: torch.Tensor, maps: torch.Tensor) -> torch.Tensor:
        return (codes @ maps).unflatten(2, (POINTS, POINTS))

    def multiply_adds(self) -> int:
        return 0  # counted where a code is made: once a layer


class RelativeMaps(nn.Module):
    """Codes (N, heads, code) -> logits (N, heads, 361, 361): a mixture of `code` templates over the offset from point
    to point.

    A template's value at an offset comes from a small net on sines and cosines of the offset's rows, columns, sum and
    difference. Frequencies, in radians a line, go geometrically from pi/18 to pi; weights start as Glorot draws (both
    ours).
    """

    def __init__(self, draws, name: str, encoder: EncoderConfig):
        super().__init__()
        self.hidden = Dense(
            draws, f"{name}.hidden", 8 * FREQUENCIES, TEMPLATE_HIDDEN, times=0
        )  # once a batch, whatever its size
        self.templates = Dense(draws, f"{name}.templates", TEMPLATE_HIDDEN, encoder.smolgen_sizes[2], times=0)
        self.register_buffer("features", _fourier_features(), persistent=False)

    def maps(self) -> torch.Tensor:
        """Templates (code, 1369)."""
        return self.templates(F.silu(self.hidden(self.features))).mT

    @staticmethod
    def logits(codes: torch.Tensor, maps: torch.Tensor) -> torch.Tensor:
        return offsets_at_pairs((codes @ maps).unflatten(2, (OFFSETS, OFFSETS)))


MAPS = {"full": FullMaps, "relative": RelativeMaps}
"""`smolgen` -> the maps that turn codes into logits."""


def _fourier_features() -> torch.Tensor:
    """(1369, 128) float32: for each offset, in the order of a table's rows, 16 sines and 16 cosines of each of four
    directions."""
    line = torch.arange(OFFSETS, dtype=torch.float64) - (SIZE - 1)
    rows, columns = (axis.flatten() for axis in torch.meshgrid(line, line, indexing="ij"))
    frequencies = torch.pi * torch.logspace(-1, 0, FREQUENCIES, base=SIZE - 1, dtype=torch.float64)
    angles = torch.stack((rows, columns, rows + columns, rows - columns), 1)[:, :, None] * frequencies
    return torch.cat((angles.sin(), angles.cos()), 2).flatten(1).float()
