"""Trunks in the orders `post` and `plain`, by explicit arithmetic; what does not go together; training and resuming."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, parse_model
from gonn_core.errors import SettingError
from tests.nets.examples import built, normalised, random_planes

SLOPE = torch.tensor(0.2)
HEAD = {"share": "1/2", "activation": "relu", "kernel": 3}


def net_of(**trunk) -> NetConfig:
    tree = {"activation": "prelu", "prelu_init": 0.2, "norm_gamma": True, "head": HEAD}
    stem = {"width": trunk.pop("stem_width")} if "stem_width" in trunk else {}
    return parse_model(NetConfig, {**tree, "stem": stem, "trunk": {"width": 12, **trunk}}, "net")


def logits_of(net, t):
    z = F.relu(normalised(F.conv2d(t, net.head.conv, padding=1)))
    return F.conv2d(z, net.head.out, padding=1).flatten(1)


@pytest.mark.parametrize("extra", [{}, {"dilations": [3]}, {"deleted_channels": True}])
def test_post_activation(extra):
    """As in the model code of mid December 2017: relu(in + norm2(conv2(relu(norm1(conv1(in))))))."""
    net, planes = built(net_of(order="post", blocks=2, **extra)), random_planes(3)
    x = F.prelu(normalised(F.conv2d(planes, net.stem.kernel, padding=2)), SLOPE)
    for block in net.blocks.values():
        y = F.conv2d(x, block.conv1, padding=1)
        if "dilations" in extra and block is net.blocks["2"]:
            far = F.conv2d(x, block.conv1[8:], padding=3, dilation=3)
            y = torch.cat((y[:, :8], far), 1)
        y = F.conv2d(F.prelu(normalised(y), SLOPE), block.conv2, padding=1)
        x = F.prelu(x + normalised(y), SLOPE)
    assert net.blocks["2"].conv1.shape[0] == (8 if "deleted_channels" in extra else 12)
    torch.testing.assert_close(net(planes), logits_of(net, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("first", [12, 20])
def test_plain_convolutions(first):
    """As in the model code of 2017-12-03: relu(norm(conv(in))), the first one wider."""
    net, x = built(net_of(order="plain", blocks=3, stem_width=first)), random_planes(3)
    planes = x
    for kernel in (net.stem.kernel, *(block.conv1 for block in net.blocks.values())):
        x = F.prelu(normalised(F.conv2d(x, kernel, padding=kernel.shape[-1] // 2)), SLOPE)
    assert net.blocks["1"].conv1.shape == (12, first, 3, 3) and net.body_width == 12
    torch.testing.assert_close(net(planes), logits_of(net, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "trunk, problem",
    [
        ({"deleted_channels": True, "dilations": [2]}, "deleted_channels leaves out what dilations would take"),
        ({"order": "post", "ladder_block": True}, "order post: ladder_block is of pre-activation trunks"),
        ({"order": "plain", "wide_blocks": "down"}, "order plain: wide_blocks is of pre-activation trunks"),
        ({"order": "plain", "dilations": [2]}, "order plain: dilations, deleted_channels, squeeze and"),
        ({"stem_width": 8}, "stem.width: only a plain trunk"),
    ],
)
def test_what_does_not_go_together_is_refused(trunk, problem):
    with pytest.raises(SettingError, match=problem):
        net_of(**trunk)


def test_no_channel_may_be_left_over_to_delete():
    with pytest.raises(SettingError, match="net.trunk.deleted_channels=true: leaves no channel of 12"):
        built(net_of(deleted_channels=True, dilated_share="1"))
