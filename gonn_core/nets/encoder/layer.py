"""One encoder layer: attention and feed-forward part, each added to alpha times its input and then normalised (spec:
other systems 3.2)."""

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.encoder.attention import Attention
from gonn_core.nets.encoder.parts import ACTIVATIONS, Dense, LayerNorm, square_relu
from gonn_core.nets.encoder.smolgen import EPSILON as KERAS_EPSILON
from gonn_core.nets.encoder.smolgen import MAPS, SmolgenCode, ToLogits
from gonn_core.nets.init import Draws
from gonn_core.settings.net import EncoderConfig

EPSILON = 1e-6


class EncoderLayer(nn.Module):
    """Tokens (N, 361, width) -> the same shape: h = norm(alpha x + attention(x)); norm(alpha h + feed-forward(h)).

    alpha = (2 layers)^(1/4). Values, output and feed-forward kernels start with a variance of beta = (8 layers)^(-1/4)
    times Glorot's: as the fork's code has it; DeepNorm's paper would scale their size by beta, the variance by its
    square.
    """

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig):
        super().__init__()
        width, beta = encoder.width, (8 * encoder.layers) ** -0.25
        self.alpha = (2 * encoder.layers) ** 0.25
        self.process = DepthwiseProcess(draws, f"{name}.process", encoder) if encoder.depthwise else None
        self.smolgen = SmolgenCode(draws, f"{name}.smolgen", encoder) if encoder.smolgen != "none" else None
        own_maps = self.smolgen is not None and not encoder.smolgen_shared
        self.maps = MAPS[encoder.smolgen](draws, f"{name}.maps", encoder) if own_maps else None
        self.attention = Attention(draws, f"{name}.attention", encoder, beta)
        self.norm1 = LayerNorm(width, EPSILON)
        self.expand = Dense(draws, f"{name}.expand", in_features=width, out_features=encoder.ffn, scale=beta)
        self.activation = ACTIVATIONS[encoder.ffn_activation]
        self.contract = Dense(draws, f"{name}.contract", in_features=encoder.ffn, out_features=width, scale=beta)
        self.norm2 = LayerNorm(width, EPSILON)

    def forward(self, x: torch.Tensor, to_logits: ToLogits | None) -> torch.Tensor:
        """to_logits: of smolgen's shared part for this batch, None without smolgen and where it is not shared."""
        processed = x if self.process is None else self.process(x)
        bias = None
        if self.maps is not None:
            to_logits = self.maps.to_logits()
        if self.smolgen is not None and to_logits is not None:
            bias = to_logits(self.smolgen(processed))
        x = self.norm1(self.alpha * x + self.attention(processed, bias))
        return self.norm2(self.alpha * x + self.contract(self.activation(self.expand(x))))


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
