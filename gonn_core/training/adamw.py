"""AdamW with learning-rate factors per element: the practical optimiser of attention bodies (spec: other systems
3.5)."""

from collections.abc import Collection, Mapping

import torch
from torch.optim.adamw import adamw

from gonn_core.config import OptimiserConfig
from gonn_core.training.optimiser import Optimiser

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class AdamW(Optimiser):
    """The method of torch.optim.AdamW, with factors on the steps; in torch's functional form, as `Sgd` is.

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
        self._groups = [
            (decay, [name for name in self._parameters if name in decayed]),
            (0.0, [name for name in self._parameters if name not in decayed]),
        ]
        # Made here, not by the first step: laid out alike in a new and in a resumed run.
        self._moments = {
            name: {
                "step": torch.zeros((), dtype=torch.float32),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
            for name, parameter in self._parameters.items()
        }

    def _update(self, rate: float) -> None:
        before = [parameter.clone() for parameter, _ in self._scaled]
        for coefficient, members in self._groups:
            gradients = self._gradients(members)
            moments = [self._moments[name] for name in gradients]
            adamw(
                [self._parameters[name] for name in gradients],
                [*gradients.values()],
                [each["exp_avg"] for each in moments],
                [each["exp_avg_sq"] for each in moments],
                [],
                [each["step"] for each in moments],
                amsgrad=False,
                beta1=BETAS[0],
                beta2=BETAS[1],
                lr=rate,
                weight_decay=coefficient,
                eps=EPSILON,
                maximize=False,
            )
        for (parameter, factor), old in zip(self._scaled, before, strict=True):
            parameter.copy_(old + factor * (parameter - old))

    def state(self) -> dict[str, torch.Tensor]:
        """`step.*`, `exp_avg.*` and `exp_avg_sq.*` by parameter name (the tensors themselves)."""
        return {f"{part}.{name}": tensor for name, moments in self._moments.items() for part, tensor in moments.items()}
