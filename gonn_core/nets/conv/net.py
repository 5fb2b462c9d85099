"""The plain convolutional family: go-NN, Clark & Storkey (spec: other systems 1.4, 2.3).

Names of parameters: `stem` for the first convolution, `layers.2`, `layers.3`, … for the others, `head.1`, … for further
layers of the head, `last` for the one that makes the logits.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.conv.layers import Convolution, FullLayer
from gonn_core.nets.parts.dropout import Dropout
from gonn_core.nets.parts.normalise import normalised

ACTIVATIONS = {"relu": F.relu, "elu": F.elu, "tanh": torch.tanh}


class ConvNet(nn.Module):
    """Planes (N, C, 19, 19) float -> logits (N, 361) float32; `plane_names` says what each of the C planes is.

    beyond_edge (C,): what stands in each plane beyond the edge of the board, as far as the first kernel reaches; all
    other layers see zeros there, or shrink the board. Raises SettingError where something stands beyond the edge and no
    first kernel reaches it.
    """

    def __init__(self, net: NetConfig, plane_names: Sequence[str], draws, beyond_edge: np.ndarray):
        super().__init__()
        conv = net.conv
        self.plane_names = tuple(plane_names)
        if not self.plane_names or len(set(self.plane_names)) != len(self.plane_names):
            raise ValueError(f"plane names must be given and distinct: {self.plane_names}")
        self.activation = ACTIVATIONS[net.activation]
        self.dropout = Dropout(conv.dropout, draws.init_seed) if conv.dropout else None
        self.stem, self.layers, width, side = self._convolutions(net, draws)
        self.body_width, self.rim = width, (SIZE - side) // 2
        self.head, self.last = nn.ModuleDict(), None
        for number, units in enumerate((*conv.head_hidden, None), 1):
            name = "last" if units is None else f"head.{number}"
            planes = self.plane_names if self.stem is None and number == 1 else None
            if conv.head == "full":
                layer = FullLayer(draws, name, net, width, units or POINTS, side, planes)
                width, side = (layer.maps, SIZE) if conv.tied else (layer.units, 1)
            else:
                point_bias = conv.position_bias == "all" or (units is None and conv.position_bias == "last")
                layer = Convolution(
                    draws, name, net, width, units or 1, conv.head_kernel, SIZE, conv.head_kernel // 2, point_bias
                )
                width = units
            if units is None:
                self.last = layer
            else:
                self.head[str(number)] = layer
        self._surround(beyond_edge)

    def _convolutions(self, net: NetConfig, draws) -> tuple[Convolution | None, nn.ModuleDict, int, int]:
        """First convolution, the others, channels and side of what comes out."""
        stem, layers, width, side = None, nn.ModuleDict(), len(self.plane_names), SIZE
        point_bias = net.conv.position_bias == "all"
        for number, (size, rows) in enumerate(net.conv.layers, 1):
            if number == 1:
                stem = Convolution(draws, "stem", net, width, rows, size, side, size // 2, point_bias, self.plane_names)
            else:
                padding = size // 2 if net.conv.hidden_padding == "same" else 0
                side -= 0 if padding else size - 1
                layers[str(number)] = Convolution(
                    draws, f"layers.{number}", net, width, rows, size, side, padding, point_bias
                )
            width = rows
        return stem, layers, width, side

    def _surround(self, beyond_edge: np.ndarray) -> None:
        """Keep the frame that is to stand around the planes; where it is empty the first convolution pads with zeros
        itself."""
        self.register_buffer("frame", None, persistent=False)
        if not beyond_edge.any():
            return
        reach = self.stem.padding if self.stem else 0
        if not reach:
            problem = "no first convolution reaches beyond the edge"
            raise SettingError(
                "features.edge", "channel or as_opponent", problem, "none, or a first kernel of 3 or more"
            )
        frame = torch.from_numpy(beyond_edge).view(1, -1, 1, 1).repeat(1, 1, SIZE + 2 * reach, SIZE + 2 * reach)
        frame[:, :, reach:-reach, reach:-reach] = 0
        self.frame, self.reach, self.stem.padding = frame, reach, 0

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return self.policies(self.body(planes))[:, 0]

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> last convolution (N, body_width, 19, 19), activated; around a board that shrank
        there are zeros."""
        if self.dropout is not None:
            self.dropout.begin()
        x = normalised(self, planes)
        if self.frame is not None:
            x = F.pad(x, (self.reach,) * 4) + self.frame
        if self.stem is not None:
            x = self._activated(self.stem(x), "stem")
        for number, layer in self.layers.items():
            x = self._activated(layer(x), f"layers.{number}")
        return F.pad(x, (self.rim,) * 4) if self.rim else x

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
