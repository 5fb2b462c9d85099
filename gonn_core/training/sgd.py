"""Stochastic gradient descent with weight decay and learning-rate factors per element (spec: GoNN 4.1, 4.2).

g = factor * (gradient of the batch's mean loss + c*w); m = 0.9 m + g; w -= rate * (g + 0.9 m), or rate * m without
Nesterov's momentum, or rate * g without any. With all factors 1 this is `torch.optim.SGD`; for this optimiser a factor
on g equals a factor on the rate. Clipping limits the gradient of the mean loss, before decay and factors, as the lczero
fork clips it (spec: other systems 3.2).

Torch's functional form is used: its class imports torch's compiler, over a second of every process that trains.
"""

from collections.abc import Collection, Mapping

import torch
from torch.optim.sgd import sgd

from gonn_core.config import OptimiserConfig
from gonn_core.training.optimiser import Optimiser


class Sgd(Optimiser):
    """The method of torch.optim.SGD, with factors on the gradients."""

    def __init__(
        self,
        parameters: Mapping[str, torch.nn.Parameter],
        config: OptimiserConfig,
        decay: float,
        decayed: Collection[str],
        factors: Mapping[str, float | torch.Tensor],
    ):
        super().__init__(parameters, config, decayed, factors)
        self._scaled: list[tuple[torch.nn.Parameter, float | torch.Tensor, float]] = []
        groups: dict[float, list[str]] = {decay: [], 0.0: []}
        for name, parameter in self._parameters.items():
            factor = factors.get(name, 1.0)
            own_decay = decay if name in decayed else 0.0
            if _is_one(factor):
                groups[own_decay].append(name)
            else:
                if isinstance(factor, torch.Tensor):
                    factor = factor.to(parameter.device, parameter.dtype)
                self._scaled.append((parameter, factor, own_decay))
                groups[0.0].append(name)
        self._groups = [(coefficient, members) for coefficient, members in groups.items() if members]
        self._decay_of_momentum, self._nesterov = config.momentum, config.nesterov
        self._momentum: dict[str, torch.Tensor] = {}
        if config.momentum:
            # Torch would take the first gradient's tensor, memory layout included. Made here, like the parameter, the
            # buffers are laid out alike in a new and in a resumed run: a condition of equal bits.
            self._momentum = {name: torch.zeros_like(parameter) for name, parameter in self._parameters.items()}

    def _update(self, rate: float) -> None:
        for parameter, factor, decay in self._scaled:
            if parameter.grad is None:
                continue
            if decay:
                parameter.grad.add_(parameter, alpha=decay)
            parameter.grad.mul_(factor)
        for coefficient, members in self._groups:
            gradients = self._gradients(members)
            sgd(
                [self._parameters[name] for name in gradients],
                [*gradients.values()],
                [self._momentum[name] for name in gradients] if self._momentum else [],
                weight_decay=coefficient,
                momentum=self._decay_of_momentum,
                lr=rate,
                dampening=0.0,
                nesterov=self._nesterov,
                maximize=False,
            )

    def state(self) -> dict[str, torch.Tensor]:
        """Momentum by parameter name (the tensors themselves)."""
        return dict(self._momentum)


def _is_one(factor: float | torch.Tensor) -> bool:
    return bool((factor == 1).all()) if isinstance(factor, torch.Tensor) else factor == 1
