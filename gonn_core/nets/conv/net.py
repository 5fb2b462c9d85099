"""The plain convolutional family: go-NN, Clark & Storkey (spec: other systems 1.4, 2.3).

Names of parameters: `stem` for the first convolution, `layers.2`, `layers.3`, … for the others, `head.1`, … for further
layers of the head, `last` for the one that makes the logits.
"""

import hashlib
import json
from collections.abc import Callable, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.conv.layers import ConvLayer, FullLayer
from gonn_core.nets.init import Draws
from gonn_core.nets.policy_net import PolicyNet


class Dropout(nn.Module):
    """In training a share of the numbers becomes 0 and the rest grows by 1/(1 - share); otherwise the identity.

    `passes` counts the training passes begun; as a buffer it is part of every checkpoint. The host counts along, so
    that no pass waits for the device to tell it. Masks on a CPU and on a GPU differ, and those of two GPU models may:
    their generators give each multiprocessor its share of the numbers.
    """

    passes: torch.Tensor

    def __init__(self, share: float, init_seed: int):
        super().__init__()
        self.share, self.init_seed, self._pass = share, init_seed, 0
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))
        self._begun: int | None = 0
        """What `passes` holds; None: not known, after a checkpoint was loaded."""

    def begin(self) -> None:
        """A new pass through the net begins."""
        if self.training:
            if not torch.compiler.is_compiling():  # there the operation that draws reads it
                self._pass = int(self.passes) if self._begun is None else self._begun
                self._begun = self._pass + 1
            self.passes += 1

    def _load_from_state_dict(self, *arguments) -> None:
        super()._load_from_state_dict(*arguments)
        self._begun = None

    def forward(self, x: torch.Tensor, layer: str) -> torch.Tensor:
        """x after dropout; `layer` is a stable name."""
        if not self.training:
            return x
        if torch.compiler.is_compiling():
            return x * compiled_mask(x.detach(), self.passes, self.share, self.init_seed, layer)
        return x * _mask(x, self._pass, self.share, self.init_seed, layer)


def _mask(x: torch.Tensor, passes: int, share: float, init_seed: int, layer: str) -> torch.Tensor:
    """What x is multiplied by: 0 or 1/(1 - share)."""
    key = json.dumps([init_seed, "dropout", layer, passes]).encode()
    seed = int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "little")
    generator = torch.Generator(x.device).manual_seed(seed)
    return torch.empty_like(x).bernoulli_(1 - share, generator=generator).div_(1 - share)


@torch.library.custom_op("gonn::dropout_mask", mutates_args=())
def compiled_mask(x: torch.Tensor, begun: torch.Tensor, share: float, init_seed: int, layer: str) -> torch.Tensor:
    """`_mask` as one operation to a compiler; begun: passes begun, this one included."""
    return _mask(x, int(begun) - 1, share, init_seed, layer)


@compiled_mask.register_fake
def _(x: torch.Tensor, begun: torch.Tensor, share: float, init_seed: int, layer: str) -> torch.Tensor:
    return torch.empty_like(x)


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"relu": F.relu, "elu": F.elu, "tanh": torch.tanh}


class ConvNet(PolicyNet):
    """Convolutions, in residual pairs if so wanted, then a head of convolutions or full layers.

    beyond_edge: what each plane holds beyond the edge of the board, as far as the first kernel reaches; all other
    layers see zeros there, or shrink the board. Raises SettingError where something stands beyond the edge and no first
    kernel reaches it.
    """

    frame: torch.Tensor | None

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws: Draws, beyond_edge: np.ndarray):
        super().__init__(plane_names)
        conv = net.conv
        self.activation = ACTIVATIONS[net.activation]
        self.dropout = Dropout(conv.dropout, draws.init_seed) if conv.dropout else None
        self.residual = conv.residual
        self.stem, self.layers, width, side = self._convolutions(net, draws)
        self.body_width, self.rim = width, (SIZE - side) // 2
        self.head = nn.ModuleDict()
        for number, units in enumerate(conv.head_hidden, 1):
            layer = self._head_layer(net, draws, f"head.{number}", width, side, units, conv.position_bias == "all")
            if isinstance(layer, FullLayer):
                width, side = (layer.maps, SIZE) if conv.tied else (layer.units, 1)
            else:
                width = units
            self.head[str(number)] = layer
        logits = POINTS if conv.head == "full" else 1
        self.last = self._head_layer(net, draws, "last", width, side, logits, conv.position_bias != "none")
        self._surround(beyond_edge)

    def _convolutions(self, net: NetConfig, draws: Draws) -> tuple[ConvLayer | None, nn.ModuleDict, int, int]:
        """First convolution, the others, channels and side of what comes out."""
        stem, layers, width, side = None, nn.ModuleDict(), len(self.plane_names), SIZE
        for number, (kernel_size, out_channels) in enumerate(net.conv.layers, 1):
            first = number == 1
            padding = kernel_size // 2 if first or net.conv.hidden_padding == "same" else 0
            side -= 0 if padding else kernel_size - 1
            layer = ConvLayer(
                draws,
                "stem" if first else f"layers.{number}",
                net,
                in_channels=width,
                out_channels=out_channels,
                kernel_size=kernel_size,
                side=side,
                padding=padding,
                point_bias=net.conv.position_bias == "all",
                planes=self.plane_names if first else None,
            )
            if first:
                stem = layer
            else:
                layers[str(number)] = layer
            width = out_channels
        return stem, layers, width, side

    def _head_layer(
        self, net: NetConfig, draws: Draws, name: str, width: int, side: int, units: int, point_bias: bool
    ) -> ConvLayer | FullLayer:
        """A layer of the head on (N, width, side, side): `units` numbers of a full layer, or channels of a
        convolution."""
        if net.conv.head == "full":
            reads_planes = self.stem is None and not self.head
            planes = self.plane_names if reads_planes else None
            return FullLayer(draws, name, net, in_channels=width, units=units, side=side, planes=planes)
        return ConvLayer(
            draws,
            name,
            net,
            in_channels=width,
            out_channels=units,
            kernel_size=net.conv.head_kernel,
            side=SIZE,
            padding=net.conv.head_kernel // 2,
            point_bias=point_bias,
        )

    def _surround(self, beyond_edge: np.ndarray) -> None:
        """Keep the frame that is to stand around the planes; where it is empty the first convolution pads with zeros
        itself."""
        self.register_buffer("frame", None, persistent=False)
        if not beyond_edge.any():
            return
        if self.stem is None or not self.stem.padding:
            problem = "no first convolution reaches beyond the edge"
            raise SettingError(
                "features.edge", "channel or as_opponent", problem, "none, or a first kernel of 3 or more"
            )
        reach = self.stem.padding
        frame = torch.from_numpy(beyond_edge).view(1, -1, 1, 1).repeat(1, 1, SIZE + 2 * reach, SIZE + 2 * reach)
        frame[:, :, reach:-reach, reach:-reach] = 0
        self.frame, self.reach, self.stem.padding = frame, reach, 0

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> last convolution (N, body_width, 19, 19), activated, or last sum of residual pairs,
        not activated; around a board that shrank there are zeros."""
        if self.dropout is not None:
            self.dropout.begin()
        x = self.normalised(planes)
        if self.frame is not None:
            x = F.pad(x, (self.reach,) * 4) + self.frame
        if self.residual and self.stem is not None:
            return self._pairs(self.stem(x))
        if self.stem is not None:
            x = self._activated(self.stem(x), "stem")
        for number, layer in self.layers.items():
            x = self._activated(layer(x), f"layers.{number}")
        return F.pad(x, (self.rim,) * 4) if self.rim else x

    def _pairs(self, x: torch.Tensor) -> torch.Tensor:
        """x + second(act(first(act(x)))) for each pair of the layers; an activation is named after who reads it."""
        layers = list(self.layers.items())
        for pair in zip(layers[::2], layers[1::2], strict=True):
            y = x
            for number, layer in pair:
                y = layer(self._activated(y, f"layers.{number}"))
            x = x + y
        return x

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Body (N, body_width, 19, 19) -> logits (N, 1, 361) of the next move, float32, no legality mask."""
        x = F.pad(body, (-self.rim,) * 4) if self.rim else body
        for number, layer in self.head.items():
            x = self._activated(layer(x), f"head.{number}")
        with torch.autocast(x.device.type, enabled=False):  # bfloat16 logits would be rounded by up to 0.4 %
            return self.last(x.float()).flatten(1)[:, None]

    def _activated(self, x: torch.Tensor, layer: str) -> torch.Tensor:
        x = self.activation(x)
        return x if self.dropout is None else self.dropout(x, layer)
