"""The encoder family: each point a token, attention layers, a logit per point (spec: other systems 3.2, 3.5).

Names of parameters are stable under every toggle. What is added or multiplied (beta, gamma) and biases are not
weight-decayed.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import SIZE
from gonn_core.nets.encoder.embedding import Embedding, EncoderStem
from gonn_core.nets.encoder.layer import EncoderLayer
from gonn_core.nets.encoder.parts import Dense
from gonn_core.nets.encoder.smolgen import MAPS
from gonn_core.nets.init import Draws
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.net import EncoderConfig


class EncoderNet(PolicyNet):
    """Dense stem, embedding, encoder layers, dense head: nothing here pads, so no edge is looked beyond."""

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        super().__init__(plane_names)
        encoder = net.encoder
        _check(encoder)
        self.body_width = encoder.width
        self.stem = EncoderStem(draws, "stem", encoder.width, self.plane_names)
        self.embedding = Embedding(draws, "embedding", encoder)
        shares = encoder.smolgen != "none" and encoder.smolgen_shared
        self.smolgen = MAPS[encoder.smolgen](draws, "smolgen", encoder) if shares else None
        self.layers = nn.ModuleDict(
            {str(k): EncoderLayer(draws, f"layers.{k}", encoder) for k in range(1, encoder.layers + 1)}
        )
        self.head = EncoderPolicyHead(draws, "head", encoder)

    def tokens(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> the last layer's tokens (N, 361, W), normalised."""
        x = self.embedding(self.stem(self.normalised(planes)))
        to_logits = None if self.smolgen is None else self.smolgen.to_logits()
        for layer in self.layers.values():
            x = layer(x, to_logits)
        return x

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


def _check(encoder: EncoderConfig) -> None:
    """Raises SettingError for settings that have nothing to act on."""
    if encoder.multiplicative_gate and encoder.additive_gate == "none":
        raise SettingError(
            "net.encoder.multiplicative_gate",
            "true",
            "has the form of the additive gate, which is none",
            "net.encoder.additive_gate relative or absolute",
        )
