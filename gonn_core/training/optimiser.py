"""Stochastic gradient descent with weight decay and learning-rate factors per element (spec: GoNN 4.1, 4.2); AdamW is
in `adamw`.

g = factor * (gradient of the batch's mean loss + c*w); m = 0.9 m + g; w -= rate * (g + 0.9 m), or rate * m without
Nesterov's momentum, or rate * g without any. With all factors 1 this is `torch.optim.SGD`; for this optimiser a factor
on g equals a factor on the rate. Clipping comes first: it limits the gradient of the mean loss, before decay and
factors, as the lczero fork clips it (spec: other systems 3.2).
"""

from collections.abc import Collection, Iterable, Mapping

import torch

from gonn_core.config import OptimiserConfig

MINIMUM_ROWS = 1000
"""Weight decay is divided by the number of training rows, but by no less than this (spec: GoNN 4.2)."""


def decay_coefficient(config: OptimiserConfig, rows: int) -> float:
    """L2 coefficient c for a training view of `rows` positions."""
    return config.weight_decay_rows / max(MINIMUM_ROWS, rows)


def check_names(parameters: Collection[str], decayed: Collection[str], factors: Collection[str]) -> None:
    """Raises ValueError unless every name in `decayed` and `factors` is one of `parameters`."""
    unknown = (set(decayed) | set(factors)) - set(parameters)
    if unknown:
        raise ValueError(f"no such parameters: {sorted(unknown)}")


def clip(parameters: Iterable[torch.nn.Parameter], largest: float) -> None:
    """Scale all gradients together so that their norm, over all their elements, is at most `largest`. A norm that is no
    number stays one."""
    torch.nn.utils.clip_grad_norm_(parameters, largest)


class Sgd:
    """The optimiser of a net's named parameters.

    parameters: name -> parameter. decay: L2 coefficient, on the parameters named in `decayed` only. factors: name ->
    number or tensor that broadcasts over the parameter; a name that is missing has 1.
    """

    def __init__(
        self,
        parameters: Mapping[str, torch.nn.Parameter],
        config: OptimiserConfig,
        decay: float,
        decayed: Collection[str],
        factors: Mapping[str, float | torch.Tensor],
    ):
        check_names(parameters, decayed, factors)
        self._parameters, self._clip_norm = dict(parameters), config.clip_norm
        self._scaled = []
        groups = {decay: [], 0.0: []}
        for name, parameter in self._parameters.items():
            factor = factors.get(name, 1.0)
            own_decay = decay if name in decayed else 0.0
            if _is_one(factor):
                groups[own_decay].append(parameter)
            else:
                if isinstance(factor, torch.Tensor):
                    factor = factor.to(parameter.device, parameter.dtype)
                self._scaled.append((parameter, factor, own_decay))
                groups[0.0].append(parameter)
        self._sgd = torch.optim.SGD(
            [{"params": members, "weight_decay": coefficient} for coefficient, members in groups.items() if members],
            lr=0.0,
            momentum=config.momentum,
            nesterov=config.nesterov,
        )
        self._momentum = {}
        if config.momentum:
            # torch would take the first gradient's tensor, memory layout included. Made here, like the parameter, the
            # buffers are laid out alike in a new and in a resumed run: a condition of equal bits.
            for name, parameter in self._parameters.items():
                self._momentum[name] = self._sgd.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        self._sgd.zero_grad(set_to_none=True)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update from the gradients that `backward` left. A parameter without one (nothing is learnt from its
        output) stays."""
        if self._clip_norm:
            clip(self._parameters.values(), self._clip_norm)
        for parameter, factor, decay in self._scaled:
            if parameter.grad is None:
                continue
            if decay:
                parameter.grad.add_(parameter, alpha=decay)
            parameter.grad.mul_(factor)
        for group in self._sgd.param_groups:
            group["lr"] = rate
        self._sgd.step()

    def state(self) -> dict[str, torch.Tensor]:
        """Momentum by parameter name (the tensors themselves)."""
        return dict(self._momentum)

    @torch.no_grad()
    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned. Raises ValueError when the names differ."""
        if set(state) != set(self._momentum):
            raise ValueError(f"momentum of other parameters: {sorted(set(state) ^ set(self._momentum))}")
        for name, tensor in state.items():
            self._momentum[name].copy_(tensor)


def _is_one(factor: float | torch.Tensor) -> bool:
    return bool((factor == 1).all()) if isinstance(factor, torch.Tensor) else factor == 1
