"""Residual block that carries values along diagonals, as ladders run: an exponentially weighted running mean (spec:
GoNN 3.2)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from gonn_core.config import NetConfig
from gonn_core.nets.init import Draws, parameter
from gonn_core.nets.parts.board import Boards
from gonn_core.nets.parts.norm import make_norm, make_slopes, normed_activation
from gonn_core.settings.gonn_net import sub_width

EMPTY_BIAS = 2.0
"""Taken from what becomes the exponent of an empty point, where `ladder_weights` is `biased`."""

STRONGEST, WEAKEST = 1.5, 1e-4
"""Exponents go from WEAKEST, a point that leaves the mean almost as it was, to about STRONGEST, one that leaves
exp(-1.5) = 22 % of it."""

FLIPS = ((), (-2, -1), (-1,), (-2,))
"""Which axes to flip so that a direction becomes the first one, down along anti-diagonals: down left, up right, down
right, up left."""


class LadderBlock(nn.Module):
    """x + mix(scan(values, exponents)) with z = act(norm1(x)), values = act(norm2(values_conv(z))), and
    exponents = 1.5 sigmoid(exponents_norm(exponents_conv(z))) near stones, 0 elsewhere, plus 0.0001; 3x3 kernels, mix
    1x1.

    ladder_weights `biased`: the sigmoid of that less 2 at empty points, wherever they are; `free`: without either.
    A quarter of the `ladder_share` channels is scanned in each of four directions. No kernel has a centre of its own.
    Exponents and scan are float32 whatever the precision: weights reach exp(19 * 1.5).
    """

    def __init__(self, draws: Draws, name: str, net: NetConfig):
        super().__init__()
        width = net.trunk.width
        channels = sub_width(width, net.trunk.ladder_share)
        self.norm1 = make_norm(net, width)
        self.slopes1 = make_slopes(net, width)
        self.values_conv = parameter(draws.he(f"{name}.values_conv", (channels, width, 3, 3), 9 * width))
        self.norm2 = make_norm(net, channels)
        self.slopes2 = make_slopes(net, channels)
        self.exponents_conv = parameter(draws.he(f"{name}.exponents_conv", (channels, width, 3, 3), 9 * width))
        self.exponents_norm = make_norm(net, channels)
        self.weights, self.mean = net.trunk.ladder_weights, MEANS[net.trunk.ladder_mean]
        self.mix = parameter(draws.he(f"{name}.mix", (width, channels, 1, 1), channels))

    def forward(self, x: torch.Tensor, boards: Boards) -> torch.Tensor:
        z = normed_activation(self.norm1, x, self.slopes1)
        values = normed_activation(self.norm2, F.conv2d(z, self.values_conv, padding=1).float(), self.slopes2)
        exponents = self.exponents_norm(F.conv2d(z, self.exponents_conv, padding=1).float())
        if self.weights == "biased":
            exponents = exponents - EMPTY_BIAS * (1 - boards.occupied)
        exponents = STRONGEST * torch.sigmoid(exponents)
        if self.weights == "near":
            exponents = exponents * boards.near
        return x + F.conv2d(scan_diagonals(values, exponents + WEAKEST, self.mean), self.mix)


def running_sum(x: torch.Tensor) -> torch.Tensor:
    """Float sums of x (…, rows, columns) down the columns, each with what is above it.

    On a GPU a scan of floats sums in another order each time; there it is a product with a triangle of ones.
    """
    if x.device.type == "cpu":
        return x.cumsum(-2)
    return _product_with_triangle(x)


def _product_with_triangle(x: torch.Tensor) -> torch.Tensor:
    rows = x.shape[-2]
    return x.new_ones(rows, rows).tril() @ x


def exponential_mean(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Running mean of values a down the columns, weights from exponents b: B_t = b_1 + … + b_t,
    w_t = exp(B_t) - exp(B_(t-1)), so that the last strong point dominates.

    Cells off the board have b = 0, hence weight 0 and, above the board, a sum of 0.
    """
    total = running_sum(b)
    weights = torch.exp(total - b) * torch.expm1(b)
    sums = torch.expm1(total)  # of the weights so far: they telescope
    return running_sum(weights * a) / sums.masked_fill(sums == 0, 1.0)


def plain_mean(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Running mean of values a down the columns with weights b themselves, as the document sketches it."""
    sums = running_sum(b)
    return running_sum(b * a) / sums.masked_fill(sums == 0, 1.0)


MEANS = {"exponential": exponential_mean, "plain": plain_mean}
"""`net.trunk.ladder_mean` -> its function of values and exponents (…, rows, columns)."""


def scan_diagonals(
    values: torch.Tensor,
    exponents: torch.Tensor,
    mean: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = exponential_mean,
) -> torch.Tensor:
    """(N, 4C, 19, 19) -> the same shape: the channels in four groups, each scanned in one direction of `FLIPS`.

    In scanning order, with weights w_t that `mean` makes of the exponents,
    y_t = (w_1 a_1 + … + w_t a_t) / (w_1 + … + w_t). Float32 in, float32 out.
    """
    with torch.autocast(values.device.type, enabled=False):
        a, b = (
            torch.stack([group.flip(axes) for group, axes in zip(x.chunk(4, 1), FLIPS, strict=True)])
            for x in (values, exponents)
        )
        scanned = _unskew(mean(_skew(a), _skew(b)))
        return torch.cat([group.flip(axes) for group, axes in zip(scanned, FLIPS, strict=True)], 1)


def _skew(x: torch.Tensor) -> torch.Tensor:
    """(…, n, n) -> (…, n, 2n - 1): row i moved i places to the right between zeros, so that anti-diagonals become
    columns."""
    n = x.shape[-1]
    return F.pad(x, (0, n)).flatten(-2)[..., : n * (2 * n - 1)].unflatten(-1, (n, 2 * n - 1))


def _unskew(x: torch.Tensor) -> torch.Tensor:
    """Undoes `_skew`."""
    n = x.shape[-2]
    return F.pad(x.flatten(-2), (0, n)).unflatten(-1, (n, 2 * n))[..., :n]
