"""The encoder family: each point a token, attention layers, a logit per point (spec: other systems 3.2, 3.5).

Smolgen makes attention logits from the whole position, in every layer anew (3.3, 3.4). Each layer makes a short code of
the position for each head; maps, shared by all layers or a layer's own, turn a code into 361x361 logits. full: the code
sees all points in their places, and the maps are dense. relative: the code sees their mean, and the maps know offsets
only.

Names of parameters are stable under every toggle. What is added or multiplied (beta, gamma) and biases are not
weight-decayed.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.encoder.attention import (
    ACTIVATIONS,
    OFFSETS,
    Attention,
    Dense,
    LayerNorm,
    factor_not_negative,
    fan_average,
    offsets_at_pairs,
    square_relu,
)
from gonn_core.nets.gonn.blocks import PUBLISHED_PLANES
from gonn_core.nets.init import Draws, constant, parameter
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.net import EncoderConfig

EPSILON = 1e-6
KERAS_EPSILON = 1e-3
"""Of the norms of smolgen and of the depthwise process (Keras' default)."""

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
        self.hidden_norm = LayerNorm(hidden, KERAS_EPSILON)
        self.codes = Dense(draws, f"{name}.codes", in_features=hidden, out_features=self.heads * self.code, times=1)
        self.codes_norm = LayerNorm(self.heads * self.code, KERAS_EPSILON)

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


class FullMaps(nn.Module):
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


class RelativeMaps(nn.Module):
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
        line = torch.arange(OFFSETS, dtype=torch.float64) - (SIZE - 1)
        rows, columns = (axis.flatten() for axis in torch.meshgrid(line, line, indexing="ij"))
        frequencies = torch.pi * torch.logspace(-1, 0, FREQUENCIES, base=SIZE - 1, dtype=torch.float64)
        angles = torch.stack((rows, columns, rows + columns, rows - columns), 1)[:, :, None] * frequencies
        features = torch.cat((angles.sin(), angles.cos()), 2).flatten(1).float()  # (1369, 128)
        self.register_buffer("features", features, persistent=False)

    def to_logits(self) -> ToLogits:
        templates = self.templates(F.silu(self.hidden(self.features))).mT  # (code, 1369)
        return lambda codes: offsets_at_pairs((codes @ templates).unflatten(2, (OFFSETS, OFFSETS)))


MAPS: dict[str, type[FullMaps | RelativeMaps]] = {"full": FullMaps, "relative": RelativeMaps}
"""`smolgen` -> the maps that turn codes into logits. `to_logits()` makes what the codes of every layer share, once a
batch."""


class EncoderLayer(nn.Module):
    """Tokens (N, 361, width) -> the same shape: h = norm(alpha x + attention(x)); norm(alpha h + feed-forward(h)).

    In order `pre`: h = x + attention(norm(x)); h + feed-forward(norm(h)), all kernels as Glorot has them.

    alpha = (2 layers)^(1/4). Values, output and feed-forward kernels start with a variance of beta = (8 layers)^(-1/4)
    times Glorot's: as the fork's code has it; DeepNorm's paper would scale their size by beta, the variance by its
    square.
    """

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        width, self.pre = encoder.width, encoder.order == "pre"
        beta = 1.0 if self.pre else (8 * encoder.layers) ** -0.25
        self.alpha = (2 * encoder.layers) ** 0.25
        self.process = DepthwiseProcess(draws, f"{name}.process", encoder) if encoder.depthwise else None
        self.smolgen = SmolgenCode(draws, f"{name}.smolgen", encoder) if encoder.smolgen != "none" else None
        own_maps = self.smolgen is not None and not encoder.smolgen_shared
        self.maps = MAPS[encoder.smolgen](draws, f"{name}.maps", encoder) if own_maps else None
        self.attention = Attention(draws, f"{name}.attention", encoder, beta)
        self.norm1 = LayerNorm(width, EPSILON)
        self.expand = Dense(draws, f"{name}.expand", in_features=width, out_features=encoder.ffn, scale=beta)
        self.gate: Dense | None = None
        if encoder.ffn_activation == "swiglu":
            self.gate = Dense(draws, f"{name}.gate", in_features=width, out_features=encoder.ffn)
        self.activation = ACTIVATIONS[encoder.ffn_activation]
        self.contract = Dense(draws, f"{name}.contract", in_features=encoder.ffn, out_features=width, scale=beta)
        self.norm2 = LayerNorm(width, EPSILON)

    def forward(self, x: torch.Tensor, to_logits: ToLogits | None) -> torch.Tensor:
        """to_logits: of smolgen's shared part for this batch, None without smolgen and where it is not shared."""
        read = self.norm1(x) if self.pre else x
        processed = read if self.process is None else self.process(read)
        bias = None
        if self.maps is not None:
            to_logits = self.maps.to_logits()
        if self.smolgen is not None and to_logits is not None:
            bias = to_logits(self.smolgen(processed))
        attended = self.attention(processed, bias)
        if self.pre:
            x = x + attended
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(self.alpha * x + attended)
        return self.norm2(self.alpha * x + self._feed_forward(x))

    def _feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.gate is None:
            return self.contract(self.activation(self.expand(x)))
        return self.contract(self.activation(self.gate(x)) * self.expand(x))


class DepthwiseProcess(nn.Module):
    """Dense map, square ReLU, norm, and a depthwise convolution that starts as the identity; (N, 361, width) -> the
    same shape."""

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        width, side = encoder.width, encoder.depthwise
        self.dense = Dense(draws, f"{name}.dense", in_features=width, out_features=width)
        self.norm = LayerNorm(width, KERAS_EPSILON)
        kernel = torch.zeros(width, 1, side, side)
        kernel[:, :, side // 2, side // 2] = 1
        self.kernel = nn.Parameter(kernel)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(square_relu(self.dense(x)))
        board = y.mT.unflatten(2, (SIZE, SIZE))
        return F.conv2d(board, self.kernel, padding=self.kernel.shape[-1] // 2, groups=len(self.kernel)).flatten(2).mT

    def multiply_adds(self) -> int:
        return self.dense.multiply_adds() + POINTS * self.kernel.numel()


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
    """Planes (N, C, 19, 19) -> (N, 361, width) by a kernel of `side`, weights drawn per plane by its name."""

    def __init__(self, draws: Draws, name: str, width: int, plane_names: tuple[str, ...], side: int):
        super().__init__()
        # fans count the published planes, whatever planes there are: dropping one leaves the others' weights as they
        # are
        shape, fans = (width,) if side == 1 else (width, side, side), side**2 * (PUBLISHED_PLANES + width)
        columns = [fan_average(draws, f"{name}.kernel", shape, fans, part=plane) for plane in plane_names]
        self.kernel = parameter(np.stack(columns, 1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        if self.kernel.dim() == 2:
            return F.linear(planes.flatten(2).mT, self.kernel)
        return F.conv2d(planes, self.kernel, padding=self.kernel.shape[-1] // 2).flatten(2).mT

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


class EncoderNet(PolicyNet):
    """Dense stem, embedding, encoder layers, dense head: nothing here pads, so no edge is looked beyond."""

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        super().__init__(plane_names)
        encoder = net.encoder
        if encoder.multiplicative_gate and encoder.additive_gate == "none":
            raise SettingError(
                "net.encoder.multiplicative_gate",
                "true",
                "has the form of the additive gate, which is none",
                "net.encoder.additive_gate relative or absolute",
            )
        self.body_width = encoder.width
        self.stem = EncoderStem(draws, "stem", encoder.width, self.plane_names, encoder.stem_kernel)
        self.embedding = Embedding(draws, "embedding", encoder)
        shares = encoder.smolgen != "none" and encoder.smolgen_shared
        self.smolgen = MAPS[encoder.smolgen](draws, "smolgen", encoder) if shares else None
        self.layers = nn.ModuleDict(
            {str(k): EncoderLayer(draws, f"layers.{k}", encoder) for k in range(1, encoder.layers + 1)}
        )
        self.end = LayerNorm(encoder.width, EPSILON) if encoder.order == "pre" else None
        self.head = EncoderPolicyHead(draws, "head", encoder)

    def tokens(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> the last layer's tokens (N, 361, W), normalised."""
        x = self.embedding(self.stem(self.normalised(planes)))
        to_logits = None if self.smolgen is None else self.smolgen.to_logits()
        for layer in self.layers.values():
            x = layer(x, to_logits)
        return x if self.end is None else self.end(x)

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> `tokens` as (N, W, 19, 19)."""
        return self.tokens(planes).mT.unflatten(2, (SIZE, SIZE))

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Body (N, W, 19, 19) -> logits (N, 1, 361) of the next move."""
        return self.head(body.flatten(2).mT)[:, None]


class EncoderPolicyHead(nn.Module):
    """Tokens (N, 361, W) -> logits (N, 361), float32: dense map, ReLU, dense map to one number.

    The last map has no bias: one number added to all points moves no probability.
    """

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        hidden = encoder.policy_hidden or encoder.width
        self.hidden = Dense(draws, f"{name}.hidden", in_features=encoder.width, out_features=hidden)
        self.logit = Dense(draws, f"{name}.logit", in_features=hidden, out_features=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.hidden(x))
        with torch.autocast(y.device.type, enabled=False):  # bfloat16 logits would be rounded by up to 0.4 %
            return self.logit(y.float()).squeeze(2)
