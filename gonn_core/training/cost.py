"""Floating-point operations of training, by a sample: of everything that is trained or run for it.

Counted are the multiply-adds of `gonn_core.nets.cost`, times two, and times three for forward and backward pass: of the
policy, auxiliary heads, and the small net of `training.hardest`; and those of the optimiser's step. Not counted:
validation on the way, and the planes.
"""

from statistics import mean

from gonn_core.config import OptimiserConfig, TrialConfig
from gonn_core.go.points import POINTS
from gonn_core.nets import PolicyNet, hidden_matrices, trial_net
from gonn_core.nets.cost import module_multiply_adds, trainable_parameters
from gonn_core.nets.init import ShapesOnly
from gonn_core.training.optimiser import ITERATIONS
from gonn_core.training.schedule import ramp_thirds
from gonn_core.training.selection import small_net

PER_PARAMETER = {"sgd": 3, "adamw": 6}
"""Multiply-adds of a step for each number: decay, moments, the step itself."""


def training_flops(config: TrialConfig) -> float:
    """Operations by a sample of `training.samples`."""
    training, net = config.training, trial_net(config, ShapesOnly())
    passes = training.hardest * module_multiply_adds(net)
    if config.features.normalisation == "whitened":
        passes += training.hardest * POINTS * len(net.plane_names) ** 2 / 3  # it learns nothing: one pass
    steps = optimiser_multiply_adds(net, training.optimiser)
    if training.hardest < 1:
        small = small_net(config, ShapesOnly())
        passes += module_multiply_adds(small)
        steps += optimiser_multiply_adds(small, OptimiserConfig())
    return 2 * (3 * passes + steps * mean(ramp_thirds(training)) / training.batch_size)


def optimiser_multiply_adds(net: PolicyNet, optimiser: OptimiserConfig) -> float:
    """Of one step."""
    hidden = set(hidden_matrices(net)) if optimiser.hidden == "muon" else set()
    total = PER_PARAMETER[optimiser.kind] * trainable_parameters(net)
    for name, values in net.named_parameters():
        if name in hidden:
            short, long = sorted((values.shape[0], values[0].numel()))
            total += ITERATIONS * (2 * short**2 * long + short**3)
    return total
