"""Wide low-rank blocks against full kernels (spec: GoNN 3.4)."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.nets.gonn.inserted import WideBlock
from gonn_core.nets.init import Draws
from tests.nets.examples import normalised, trunk_values

NET = NetConfig(activation="prelu", prelu_init=0.2, norm_gamma=True, trunk=TrunkConfig(width=12))
BOTH = ("down", "across")


def in_nine_by_nine(kernel):
    """A 9x1 or 1x9 kernel as the middle column or row of a 9x9 one."""
    full = torch.zeros(*kernel.shape[:2], 9, 9)
    if kernel.shape[2] == 9:
        full[:, :, :, 4] = kernel[:, :, :, 0]
    else:
        full[:, :, 4] = kernel[:, :, 0]
    return full


def slow_branch(z, first, second):
    y = normalised(F.conv2d(z, in_nine_by_nine(first), padding=4))
    return F.conv2d(F.prelu(y, torch.tensor(0.2)), in_nine_by_nine(second), padding=4)


@pytest.mark.parametrize("orientations", [BOTH, ("down",), ("across",)])
def test_block(orientations):
    block, x = WideBlock(Draws(0), "b", NET, orientations), trunk_values()
    assert block.first.shape == (4, 12, 9, 1) and block.second.shape == (12, 4, 1, 9)
    z = F.prelu(normalised(x), torch.tensor(0.2))
    expected = x
    if "down" in orientations:
        expected = expected + 0.5 * slow_branch(z, block.first, block.second)
    if "across" in orientations:
        expected = expected + 0.5 * slow_branch(z, block.first.transpose(2, 3), block.second.transpose(2, 3))
    torch.testing.assert_close(block(x, None), expected, rtol=1e-5, atol=2e-5)
