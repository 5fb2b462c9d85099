"""What every family's net is: the contract between nets and whoever trains, evaluates or plays them."""

from collections.abc import Sequence

import torch
from torch import nn

from gonn_core.features.normalisation import measured
from gonn_core.features.source import PlaneSource
from gonn_core.nets.auxiliary.heads import AuxiliaryHeads
from gonn_core.settings.features import FeatureConfig


class Normalise(nn.Module):
    """(planes - shift) * scale; buffers `shift` and `scale` (C, 1, 1) float32. The identity until they are set."""

    shift: torch.Tensor
    scale: torch.Tensor

    def __init__(self, planes: int):
        super().__init__()
        self.register_buffer("shift", torch.zeros(planes, 1, 1))
        self.register_buffer("scale", torch.ones(planes, 1, 1))

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        return (planes - self.shift) * self.scale

    @torch.no_grad()
    def measure(self, features: FeatureConfig, source: PlaneSource, rows) -> None:
        """Set shift and scale from the training positions at `rows` of a store.

        Measured on the evenly spaced sample of `features.normalisation.measured`: the same rows give the same bits.
        """
        affine = measured(features, source, rows)
        self.shift.copy_(torch.from_numpy(affine.shift)[:, None, None])
        self.scale.copy_(torch.from_numpy(affine.scale)[:, None, None])


class PolicyNet(nn.Module):
    """Planes (N, C, 19, 19) float -> logits (N, 361) float32 of the next move: no pass, no legality mask.

    A family is made from (net, plane_names, draws, beyond_edge), as `registry.make_net` says, and has `body_width`,
    `body` and `policies`. Its `body` reads the planes through `normalised`, and pads them, if it pads its input, after
    that.
    """

    body_width: int
    """Channels of `body`."""

    def __init__(self, plane_names: Sequence[str]):
        """plane_names says what each of the C planes is. Raises ValueError when there are none, or the same twice."""
        super().__init__()
        self.plane_names = tuple(plane_names)
        if not self.plane_names or len(set(self.plane_names)) != len(self.plane_names):
            raise ValueError(f"plane names must be given and distinct: {self.plane_names}")
        self.normalise: Normalise | None = None  # both are set by `registry.trial_net`, where a trial has them
        self.auxiliary: AuxiliaryHeads | None = None

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """The first of the policies of the body."""
        return self.policies(self.body(planes))[:, 0]

    def body(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes (N, C, 19, 19) -> what the policies and the auxiliary heads read (N, body_width, 19, 19)."""
        raise NotImplementedError

    def policies(self, body: torch.Tensor) -> torch.Tensor:
        """Body -> logits (N, K, 361) float32: the next move and, where a family predicts them, the moves after it."""
        raise NotImplementedError

    def normalised(self, planes: torch.Tensor) -> torch.Tensor:
        """Planes as the first layer is to see them."""
        return planes if self.normalise is None else self.normalise(planes)
