"""The encoder family: each point a token, attention layers, a logit per point (spec: other systems 3.2, 3.5).

Names of parameters are stable under every toggle. What is added or multiplied (beta, gamma) and biases are not
weight-decayed.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import SIZE
from gonn_core.nets.encoder.embedding import Embedding, Stem
from gonn_core.nets.encoder.layer import EncoderLayer
from gonn_core.nets.encoder.parts import Dense
from gonn_core.nets.encoder.smolgen import MAPS
from gonn_core.nets.parts.normalise import normalised
from gonn_core.settings.encoder_net import EncoderConfig


class EncoderNet(nn.Module):
    """Planes (N, C, 19, 19) float -> logits (N, 361) float32; `plane_names` says what each of the C planes is."""

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws):
        super().__init__()
        encoder = net.encoder
        _check(encoder)
        self.plane_names = tuple(plane_names)
        if not self.plane_names or len(set(self.plane_names)) != len(self.plane_names):
            raise ValueError(f"plane names must be given and distinct: {self.plane_names}")
        self.body_width = encoder.width
        self.stem = Stem(draws, "stem", encoder.width, self.plane_names)
        self.embedding = Embedding(draws, "embedding", encoder)
        self.smolgen = MAPS[encoder.smolgen](draws, "smolgen", encoder) if encoder.smolgen != "none" else None
        self.layers = nn.ModuleDict(
            {str(k): EncoderLayer(draws, f"layers.{k}", encoder) for k in range(1, encoder.layers + 1)}
        )
        self.head = PolicyHead(draws, "head", encoder)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.head(self.tokens(planes))

    def tokens(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> the last layer's tokens (N, 361, W), normalised."""
        x = self.embedding(self.stem(normalised(self, planes)))
        maps = None if self.smolgen is None else self.smolgen.maps()
        for layer in self.layers.values():
            x = layer(x, maps)
        return x

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> `tokens` as (N, W, 19, 19)."""
        return self.tokens(planes).mT.unflatten(2, (SIZE, SIZE))

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Body (N, W, 19, 19) -> logits (N, 1, 361) of the next move."""
        return self.head(body.flatten(2).mT)[:, None]


class PolicyHead(nn.Module):
    """Tokens (N, 361, W) -> logits (N, 361), float32: dense map, ReLU, dense map to one number.

    The last map has no bias: one number added to all points moves no probability.
    """

    def __init__(self, draws, name: str, encoder: EncoderConfig):
        super().__init__()
        hidden = encoder.policy_hidden or encoder.width
        self.hidden = Dense(draws, f"{name}.hidden", encoder.width, hidden)
        self.logit = Dense(draws, f"{name}.logit", hidden, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.hidden(x))
        with torch.autocast(y.device.type, enabled=False):  # bfloat16 logits would be rounded by up to 0.4 %
            return self.logit(y.float()).squeeze(2)


def _check(encoder: EncoderConfig) -> None:
    """Raises SettingError for settings that have nothing to act on."""
    if encoder.multiplicative_gate and encoder.additive_gate == "none":
        raise SettingError(
            "net.encoder.multiplicative_gate",
            "true",
            "has the form of the additive gate, which is none",
            "net.encoder.additive_gate relative or absolute",
        )
