"""How much of two arms starts equal: what pairing by seed can rest on."""

import torch

from gonn_core.config import TrialConfig
from gonn_core.nets.registry import trial_net


def equal_start_share(first: TrialConfig, second: TrialConfig) -> float:
    """Share, of the larger arm's parameters, whose initial value is equal in both arms, matched by name.

    Stem kernels are matched plane by plane; tensors of different shapes by their leading slices. Reads net, planes and
    init_seed.
    """
    nets = [trial_net(arm) for arm in (first, second)]
    larger = max(sum(values.numel() for values in net.parameters()) for net in nets)
    mine, other = (dict(net.named_parameters()) for net in nets)
    equal = 0
    for name in mine.keys() & other.keys():
        a, b = mine[name].detach(), other[name].detach()
        if a.dim() != b.dim():  # tied in one of the arms
            continue
        if name.startswith("stem.") and not name.endswith(".bias"):
            planes = [plane for plane in nets[0].plane_names if plane in nets[1].plane_names]
            a, b = (
                tensor[:, [net.plane_names.index(plane) for plane in planes]]
                for tensor, net in zip((a, b), nets, strict=True)
            )
        overlap = tuple(slice(min(sizes)) for sizes in zip(a.shape, b.shape, strict=True))
        equal += int(torch.count_nonzero(a[overlap] == b[overlap]))
    return equal / larger
