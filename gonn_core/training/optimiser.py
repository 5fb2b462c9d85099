"""What every optimiser of a net's named parameters has; `sgd` and `adamw` are those there are."""

from collections.abc import Collection, Iterable, Mapping

import torch

from gonn_core.config import OptimiserConfig

MINIMUM_ROWS = 1000
"""Weight decay is divided by the number of training rows, but by no less than this (spec: GoNN 4.2)."""


def decay_coefficient(config: OptimiserConfig, rows: int) -> float:
    """L2 coefficient c for a training view of `rows` positions."""
    return config.weight_decay_rows / max(MINIMUM_ROWS, rows) + config.weight_decay


class Optimiser:
    """One update a step, at the rate it is given; its state can be taken out and put back bit for bit.

    Made from (parameters, config, decay, decayed, factors). parameters: name -> parameter. decay: L2 coefficient, on
    the parameters named in `decayed` only. factors: name -> number or tensor that broadcasts over the parameter; a name
    that is missing has 1.
    """

    def __init__(
        self,
        parameters: Mapping[str, torch.nn.Parameter],
        config: OptimiserConfig,
        decayed: Collection[str],
        factors: Mapping[str, float | torch.Tensor],
    ):
        """Raises ValueError unless every name in `decayed` and `factors` is one of `parameters`."""
        unknown = (set(decayed) | set(factors)) - set(parameters)
        if unknown:
            raise ValueError(f"no such parameters: {sorted(unknown)}")
        self._parameters, self._clip_norm = dict(parameters), config.clip_norm

    def zero_grad(self) -> None:
        """Forget the gradients of the last step."""
        for parameter in self._parameters.values():
            parameter.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update from the gradients that `backward` left. A parameter without one (nothing is learnt from its
        output) stays.

        Clipping comes first: gradients are scaled together so that their norm, over all their elements, is at most
        `clip_norm`. A norm that is no number stays one.
        """
        if self._clip_norm:
            torch.nn.utils.clip_grad_norm_(self._parameters.values(), self._clip_norm)
        self._update(rate)

    def _gradients(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """Of those parameters that have one."""
        return {name: gradient for name in names if (gradient := self._parameters[name].grad) is not None}

    def _update(self, rate: float) -> None:
        """The step itself, of gradients that were clipped."""
        raise NotImplementedError

    def state(self) -> dict[str, torch.Tensor]:
        """The moments (the tensors themselves), by name."""
        raise NotImplementedError

    @torch.no_grad()
    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` returned. Raises ValueError when the names differ."""
        own = self.state()
        if set(state) != set(own):
            raise ValueError(f"moments of other parameters: {sorted(set(state) ^ set(own))}")
        for name, tensor in state.items():
            own[name].copy_(tensor)
