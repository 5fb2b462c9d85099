"""Move-prediction networks: `build_net` makes one from a `NetConfig`; cost, factors and pairs say what a trial needs to
know of it.

Planes (N, C, 19, 19), mover-relative, go in; logits (N, 361) come out. Everything that a net computes and starts from
follows from the configuration, the names of its planes and `init_seed` (numerics version `gonn_core.numerics.NETS`).
`policy_net` says what every net is; a folder for each family next to it, `parts` for what families share.
"""

from gonn_core.nets.cost import (
    count_parameters,
    decayed,
    gradient_factors,
    hidden_matrices,
    multiply_adds,
    trainable_parameters,
)
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.nets.registry import build_net, trial_net

__all__ = [
    "PolicyNet",
    "build_net",
    "count_parameters",
    "decayed",
    "gradient_factors",
    "hidden_matrices",
    "multiply_adds",
    "trainable_parameters",
    "trial_net",
]
