"""Pre-activation residual blocks: ordinary, dilated, with channels deleted, global-pooling (spec: GoNN 2.3), and of
later kinds.

All hold their first convolution as one kernel (W, W, 3, 3): a dilated block gives its last output channels a dilation,
a global block pools its last output channels. So whichever kind block 7 is, its first kernel has the same name, shape
and initial values. A block with its last channels deleted keeps what is left of both kernels as it was.

Trunks whose norm and activation follow each convolution: residual blocks of mid December 2017, and the plain
convolutions before them (model code of these dates).

Norm and activation follow the stem instead of the last block. Kernels, norms and slopes have the names of
the pre-activation blocks, so that a net of either order starts from the same numbers.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig, StemConfig
from gonn_core.nets.encoder.attention import Dense
from gonn_core.nets.init import Draws, block_kernel, parameter
from gonn_core.nets.parts.norm import STATISTICS, PooledBias, activate, make_norm, make_slopes, normed_activation
from gonn_core.settings.gonn_net import (
    block_dilation,
    deleted_width,
    dilated_width,
    global_blocks,
    pooled_width,
    stem_width,
    sub_width,
)

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


class PreactivationBlock(nn.Module):
    """x + conv2(act(norm2(conv1(act(norm1(x)))))), both 3x3; the last `dilated` output channels of conv1 have
    `dilation`, its last `deleted` ones are not there."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, dilated: int = 0, dilation: int = 1, deleted: int = 0):
        super().__init__()
        middle = net.trunk.width - deleted
        self.parts = ((middle - dilated, 1), (dilated, dilation))
        self.norm1 = make_norm(net, net.trunk.width)
        self.slopes1 = make_slopes(net, net.trunk.width)
        self.conv1 = first_kernel(draws, f"{name}.conv1", net, middle)
        self.norm2 = make_norm(net, middle)
        self.slopes2 = make_slopes(net, middle)
        self.conv2 = second_kernel(draws, f"{name}.conv2", net, middle)
        self.squeeze = make_squeeze(draws, f"{name}.squeeze", net)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = normed_activation(self.norm1, x, self.slopes1)
        y = normed_activation(self.norm2, convolve_in_parts(y, self.conv1, self.parts), self.slopes2)
        return x + self.squeeze(F.conv2d(y, self.conv2, padding=1))


def first_kernel(draws: Draws, name: str, net: NetConfig, out_channels: int) -> nn.Parameter:
    """A block's first kernel (out_channels, W, 3, 3); of Fixup smaller by the root of the number of blocks."""
    width, center = net.trunk.width, net.trunk.center_init
    kernel = block_kernel(draws, name, in_channels=width, out_channels=out_channels, center_init=center)
    return _scaled(kernel, net.trunk.blocks**-0.5) if net.norm == "fixup" else kernel


def last_kernel(kernel: nn.Parameter, net: NetConfig) -> nn.Parameter:
    """A block's last kernel as it starts: 0 where the net asks for that."""
    return _scaled(kernel, 0.0) if net.trunk.zero_last or net.norm == "fixup" else kernel


def _scaled(kernel: nn.Parameter, factor: float) -> nn.Parameter:
    with torch.no_grad():
        kernel.mul_(factor)
    return kernel


def second_kernel(draws: Draws, name: str, net: NetConfig, middle: int) -> nn.Parameter:
    """A block's second kernel (W, middle, 3, 3): the first columns of one that reads W channels, with its fan-in, so
    that what deletion leaves starts as it does without."""
    width = net.trunk.width
    whole = block_kernel(draws, name, in_channels=width, out_channels=width, center_init=net.trunk.center_init)
    whole = last_kernel(whole, net)
    return whole if middle == width else nn.Parameter(whole.detach()[:, :middle].contiguous())


def convolve_in_parts(
    x: torch.Tensor, kernel: torch.Tensor, parts: Sequence[tuple[int, int]], depthwise: bool = False
) -> torch.Tensor:
    """3x3 convolution as wide as the board, its output channels in groups of (channels, dilation); depthwise: each
    reads the input channel of its number alone."""
    parts = [part for part in parts if part[0]]
    sizes = [channels for channels, _ in parts]
    inputs, groups = (x.split(sizes, 1), sizes) if depthwise else ([x] * len(parts), [1] * len(parts))
    outputs = [
        F.conv2d(of_part, weights, padding=dilation, dilation=dilation, groups=count)
        for of_part, weights, (_, dilation), count in zip(inputs, kernel.split(sizes), parts, groups, strict=True)
    ]
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 1)


class GlobalBlock(nn.Module):
    """Of conv1's W output channels the last `pooled` are pooled over the board (mean and max) and added, through a
    matrix, to the others.

    x + conv2(act(norm2(A + matrix * pool(act(norm(G)))))) with A, G the first and last channels of
    conv1(act(norm1(x))).
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig, pooled: int):
        super().__init__()
        width, center = net.trunk.width, net.trunk.center_init
        ordinary = width - pooled
        self.parts = (ordinary, pooled)
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        self.conv1 = first_kernel(draws, f"{name}.conv1", net, width)
        # the matrix starts at half of a He draw (spec: GoNN 2.6)
        self.pooled = PooledBias(
            draws,
            f"{name}.pooled",
            net,
            statistics=STATISTICS["mean_max"],
            in_channels=pooled,
            out_channels=ordinary,
            fan_in=2 * pooled,
            scale=0.5,
        )
        self.norm2 = make_norm(net, ordinary)
        self.slopes2 = make_slopes(net, ordinary)
        kernel = block_kernel(draws, f"{name}.conv2", in_channels=ordinary, out_channels=width, center_init=center)
        self.conv2 = last_kernel(kernel, net)
        self.squeeze = make_squeeze(draws, f"{name}.squeeze", net)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = normed_activation(self.norm1, x, self.slopes1)
        y, pooled = F.conv2d(y, self.conv1, padding=1).split(self.parts, 1)
        y = normed_activation(self.norm2, y + self.pooled(pooled), self.slopes2)
        return x + self.squeeze(F.conv2d(y, self.conv2, padding=1))


EXPANSION = 4
"""Channels of an inverted block between its 1x1 kernels, per channel of the trunk."""


class InvertedBlock(nn.Module):
    """x + conv2(act(norm3(depthwise(act(norm2(conv1(act(norm1(x)))))))), conv1 and conv2 1x1, to four times the
    channels and back; depthwise 3x3 within each channel, of the last `dilated` per channel of the trunk with
    `dilation`."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, dilated: int, dilation: int):
        super().__init__()
        width, middle = net.trunk.width, EXPANSION * net.trunk.width
        self.parts = ((middle - EXPANSION * dilated, 1), (EXPANSION * dilated, dilation))
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        first = parameter(draws.he(f"{name}.conv1", (middle, width, 1, 1), width))
        self.conv1 = _scaled(first, net.trunk.blocks**-0.25) if net.norm == "fixup" else first
        self.norm2 = make_norm(net, middle)
        self.slopes2 = make_slopes(net, middle)
        depthwise = parameter(draws.he(f"{name}.depthwise", (middle, 1, 3, 3), 9))
        self.depthwise = _scaled(depthwise, net.trunk.blocks**-0.25) if net.norm == "fixup" else depthwise
        self.norm3 = make_norm(net, middle)
        self.slopes3 = make_slopes(net, middle)
        self.conv2 = last_kernel(parameter(draws.he(f"{name}.conv2", (width, middle, 1, 1), middle)), net)
        self.squeeze = make_squeeze(draws, f"{name}.squeeze", net)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = normed_activation(
            self.norm2, F.conv2d(normed_activation(self.norm1, x, self.slopes1), self.conv1), self.slopes2
        )
        y = convolve_in_parts(y, self.depthwise, self.parts, depthwise=True)
        return x + self.squeeze(F.conv2d(normed_activation(self.norm3, y, self.slopes3), self.conv2))


class NestedBlock(nn.Module):
    """x + conv2(act(norm2(inner(conv1(act(norm1(x))))))), conv1 and conv2 1x1, to half of the channels and back; inner:
    two basic blocks of that width, dilated as such."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, dilation: int):
        super().__init__()
        width, middle = net.trunk.width, net.trunk.width // 2
        narrow = net.model_copy(update={"trunk": net.trunk.model_copy(update={"width": middle, "squeeze": "none"})})
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        self.conv1 = parameter(draws.he(f"{name}.conv1", (middle, width, 1, 1), width))
        dilated = dilated_width(narrow.trunk) if dilation > 1 else 0
        self.inner = nn.Sequential(
            *(PreactivationBlock(draws, f"{name}.inner.{number}", narrow, dilated, dilation) for number in range(2))
        )
        self.norm2 = make_norm(net, middle)
        self.slopes2 = make_slopes(net, middle)
        self.conv2 = last_kernel(parameter(draws.he(f"{name}.conv2", (width, middle, 1, 1), middle)), net)
        self.squeeze = make_squeeze(draws, f"{name}.squeeze", net)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.inner(F.conv2d(normed_activation(self.norm1, x, self.slopes1), self.conv1))
        return x + self.squeeze(F.conv2d(normed_activation(self.norm2, y, self.slopes2), self.conv2))


class Squeeze(nn.Module):
    """y (N, W, 19, 19) times a factor of each channel, sigmoid(a), plus b if `shift`; a and b: expand(relu(reduce(means
    of y over the board)))."""

    def __init__(self, draws: Draws, name: str, width: int, hidden: int, shift: bool):
        super().__init__()
        self.reduce = Dense(draws, f"{name}.reduce", in_features=width, out_features=hidden, times=1)
        self.factor = Dense(draws, f"{name}.factor", in_features=hidden, out_features=width, times=1)
        self.shift = Dense(draws, f"{name}.shift", in_features=hidden, out_features=width, times=1) if shift else None

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.reduce(y.float().mean((2, 3))))
        scaled = y * torch.sigmoid(self.factor(hidden))[:, :, None, None].to(y.dtype)
        return scaled if self.shift is None else scaled + self.shift(hidden)[:, :, None, None].to(y.dtype)


def make_squeeze(draws: Draws, name: str, net: NetConfig) -> nn.Module:
    """What `net.trunk.squeeze` asks for; the identity without it."""
    trunk = net.trunk
    if trunk.squeeze == "none":
        return nn.Identity()
    hidden = sub_width(trunk.width, trunk.squeeze_share)
    return Squeeze(draws, name, trunk.width, hidden, trunk.squeeze == "scale_shift")


class PostactivationBlock(nn.Module):
    """act(x + norm2(conv2(act(norm1(conv1(x)))))), both 3x3; channels of conv1 dilated or deleted as in the
    pre-activation block."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, dilated: int = 0, dilation: int = 1, deleted: int = 0):
        super().__init__()
        width = net.trunk.width
        middle = width - deleted
        self.parts = ((middle - dilated, 1), (dilated, dilation))
        self.conv1 = first_kernel(draws, f"{name}.conv1", net, middle)
        self.norm1 = make_norm(net, middle)
        self.slopes1 = make_slopes(net, middle)
        self.conv2 = second_kernel(draws, f"{name}.conv2", net, middle)
        self.norm2 = make_norm(net, width)
        self.slopes2 = make_slopes(net, width)
        self.squeeze = make_squeeze(draws, f"{name}.squeeze", net)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = normed_activation(self.norm1, convolve_in_parts(x, self.conv1, self.parts), self.slopes1)
        return activate(x + self.squeeze(self.norm2(F.conv2d(y, self.conv2, padding=1))), self.slopes2)


class PlainBlock(nn.Module):
    """act(norm1(conv1(x))), 3x3; the first one may read another width."""

    def __init__(self, draws: Draws, name: str, net: NetConfig, block: int):
        super().__init__()
        width = net.trunk.width
        self.conv1 = block_kernel(
            draws,
            f"{name}.conv1",
            in_channels=stem_width(net.stem, net.trunk) if block == 1 else width,
            out_channels=width,
            center_init=net.trunk.center_init,
        )
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return normed_activation(self.norm1, F.conv2d(x, self.conv1, padding=1), self.slopes1)


def make_block(draws: Draws, name: str, net: NetConfig, block: int) -> nn.Module:
    """Block number `block` (1-based) of a trunk: in order `pre` global where `global_blocks` says so, else of the kind
    `trunk.block`, dilated, with channels deleted, or ordinary."""
    trunk = net.trunk
    if trunk.order == "plain":
        return PlainBlock(draws, name, net, block)
    if trunk.order == "pre" and block in global_blocks(trunk):
        return GlobalBlock(draws, name, net, pooled_width(trunk))
    deleted = deleted_width(trunk) if trunk.deleted_channels and block > 1 else 0
    dilation = block_dilation(trunk, block)
    if trunk.block == "nested":
        return NestedBlock(draws, name, net, dilation)
    if trunk.block == "inverted":
        return InvertedBlock(draws, name, net, dilated_width(trunk) if dilation > 1 else 0, dilation)
    kind = PreactivationBlock if trunk.order == "pre" else PostactivationBlock
    return kind(draws, name, net, dilated_width(trunk) if dilation > 1 else 0, dilation, deleted)
