"""AdamW with learning-rate factors per element: the practical optimiser of attention bodies (spec: other systems
3.5)."""

from collections.abc import Collection, Mapping

import torch

from gonn_core.config import OptimiserConfig
from gonn_core.training.optimiser import Optimiser

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class AdamW(Optimiser):
    """torch.optim.AdamW, with factors on the steps.

    Adam takes the size out of a gradient, so a factor is applied to the step, decay included: as a factor of the rate,
    which it is for `Sgd` too. Decay is decoupled: w -= rate * c * w.
    """

    def __init__(
        self,
        parameters: Mapping[str, torch.nn.Parameter],
        config: OptimiserConfig,
        decay: float,
        decayed: Collection[str],
        factors: Mapping[str, float | torch.Tensor],
    ):
        super().__init__(parameters, config, decayed, factors)
        self._scaled = [
            (parameters[name], torch.as_tensor(factor, dtype=torch.float32).to(parameters[name].device))
            for name, factor in factors.items()
        ]
        groups = [
            {"params": [value for name, value in parameters.items() if name in decayed], "weight_decay": decay},
            {"params": [value for name, value in parameters.items() if name not in decayed], "weight_decay": 0.0},
        ]
        self._torch = torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=0.0, betas=BETAS, eps=EPSILON
        )
        for parameter in self._parameters.values():
            # Made here, not by the first step: laid out alike in a new and in a resumed run.
            self._torch.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def _update(self, rate: float) -> None:
        for group in self._torch.param_groups:
            group["lr"] = rate
        before = [parameter.clone() for parameter, _ in self._scaled]
        self._torch.step()
        for (parameter, factor), old in zip(self._scaled, before, strict=True):
            parameter.copy_(old + factor * (parameter - old))

    def state(self) -> dict[str, torch.Tensor]:
        """`step.*`, `exp_avg.*` and `exp_avg_sq.*` by parameter name (the tensors themselves)."""
        return {
            f"{part}.{name}": tensor
            for name, value in self._parameters.items()
            for part, tensor in self._torch.state[value].items()
        }
