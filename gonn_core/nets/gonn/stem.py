"""First convolution, planes to trunk; neither norm nor activation follows (spec: GoNN 2.2)."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import StemConfig
from gonn_core.nets.init import Draws, parameter

PUBLISHED_PLANES = 26
"""Planes that a `paired` fan-in counts, whatever the number of planes present: otherwise dropping a plane would rescale
the others' weights, and two arms would no longer start equal. At the published set this is the published
initialisation."""

CENTER_SCALE = 0.3
"""The centre kernel starts at 0.3 of a 1x1 He draw (spec: GoNN 2.6)."""


class GonnStem(nn.Module):
    """Planes (N, C, 19, 19) -> trunk (N, width, 19, 19), weights drawn per plane by its name.

    With `center_kernel` a 1x1 kernel is added to the centre tap. Written as a sum of kernels it costs one convolution;
    it is a parameter of its own because the centre then takes two gradients and moves twice as fast.
    """

    def __init__(self, draws: Draws, name: str, stem: StemConfig, width: int, plane_names: tuple[str, ...]):
        super().__init__()
        self.padding = stem.kernel // 2
        planes = PUBLISHED_PLANES if stem.fan_in == "paired" else len(plane_names)
        shape, fan_in = (width, stem.kernel, stem.kernel), planes * stem.kernel**2
        self.kernel = parameter(
            np.stack([draws.he(f"{name}.kernel", shape, fan_in, plane) for plane in plane_names], 1)
        )
        self.center = None
        if stem.center_kernel:
            columns = [CENTER_SCALE * draws.he(f"{name}.center", (width,), planes, plane) for plane in plane_names]
            self.center = parameter(np.stack(columns, 1)[:, :, None, None])

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        kernel: torch.Tensor = self.kernel
        if self.center is not None:
            kernel = kernel + F.pad(self.center, (self.padding,) * 4)
        return F.conv2d(planes, kernel, padding=self.padding)
