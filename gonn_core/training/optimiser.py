"""Optimisers of a net's named parameters: `Sgd`, `AdamW` and `Muon`, all with learning-rate factors per element.

Torch's functional forms are used: its classes import torch's compiler, over a second of every process that trains.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import torch
from torch.optim.adamw import adamw
from torch.optim.sgd import sgd

from gonn_core.config import OptimiserConfig
from gonn_core.nets import decayed, gradient_factors, hidden_matrices

MINIMUM_ROWS = 1000
"""Weight decay is divided by the number of training rows, but by no less than this (spec: GoNN 4.2)."""


def decay_coefficient(config: OptimiserConfig, rows: int) -> float:
    """L2 coefficient c for a training view of `rows` positions."""
    return config.weight_decay_rows / max(MINIMUM_ROWS, rows) + config.weight_decay


class Optimiser:
    """One update a step, at the rate it is given; its state can be taken out and put back bit for bit.

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
        self._parameters, self._config = dict(parameters), config
        self._momentum: dict[str, torch.Tensor] = {}
        self._groups: dict[float, list[str]] = defaultdict(list)
        """Decay coefficient -> names of the parameters that torch's function updates with it."""
        self._prepare({name: decay if name in decayed else 0.0 for name in parameters}, factors)

    def _prepare(self, decays: Mapping[str, float], factors: Mapping[str, float | torch.Tensor]) -> None:
        """Form the groups and make the moments, like the parameters: so they are laid out alike in a new and in a
        resumed run, a condition of equal bits."""
        raise NotImplementedError

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
        if self._config.clip_norm:
            torch.nn.utils.clip_grad_norm_(self._parameters.values(), self._config.clip_norm)
        self._update(rate)

    def _gradients(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """Of those parameters that have one."""
        return {name: gradient for name in names if (gradient := self._parameters[name].grad) is not None}

    def _update(self, rate: float) -> None:
        """The step itself, of gradients that were clipped."""
        raise NotImplementedError

    def state(self) -> dict[str, torch.Tensor]:
        """The moments (the tensors themselves), by name: where there is one of each, momentum by parameter."""
        return dict(self._momentum)

    @torch.no_grad()
    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue from what `state` returned. Raises ValueError when the names differ."""
        moments = self.state()
        if set(state) != set(moments):
            raise ValueError(f"moments of other parameters: {sorted(set(state) ^ set(moments))}")
        for name, tensor in state.items():
            moments[name].copy_(tensor)


class Sgd(Optimiser):
    """Stochastic gradient descent with weight decay and learning-rate factors per element (spec: GoNN 4.1, 4.2).

    g = factor * (gradient of the batch's mean loss + c*w); m = 0.9 m + g; w -= rate * (g + 0.9 m), or rate * m without
    Nesterov's momentum, or rate * g without any. With all factors 1 this is `torch.optim.SGD`; for this optimiser a
    factor on g equals a factor on the rate. Clipping limits the gradient of the mean loss, before decay and factors, as
    the lczero fork clips it (spec: other systems 3.2).
    """

    def _prepare(self, decays: Mapping[str, float], factors: Mapping[str, float | torch.Tensor]) -> None:
        self._scaled: list[tuple[torch.nn.Parameter, float | torch.Tensor, float]] = []
        for name, parameter in self._parameters.items():
            factor = factors.get(name, 1.0)
            if bool((factor == 1).all()) if isinstance(factor, torch.Tensor) else factor == 1:
                self._groups[decays[name]].append(name)
            else:
                if isinstance(factor, torch.Tensor):
                    factor = factor.to(parameter.device, parameter.dtype)
                self._scaled.append((parameter, factor, decays[name]))
                self._groups[0.0].append(name)
        has_momentum = self._parameters if self._config.momentum else {}
        self._momentum = {name: torch.zeros_like(parameter) for name, parameter in has_momentum.items()}

    def _update(self, rate: float) -> None:
        for parameter, factor, decay in self._scaled:
            if parameter.grad is None:
                continue
            if decay:
                parameter.grad.add_(parameter, alpha=decay)
            parameter.grad.mul_(factor)
        for coefficient, members in self._groups.items():
            gradients = self._gradients(members)
            sgd(
                [self._parameters[name] for name in gradients],
                [*gradients.values()],
                [self._momentum[name] for name in gradients] if self._momentum else [],
                weight_decay=coefficient,
                momentum=self._config.momentum,
                lr=rate,
                dampening=0.0,
                nesterov=self._config.nesterov,
                maximize=False,
            )


BETAS = (0.9, 0.999)
EPSILON = 1e-8


class AdamW(Optimiser):
    """The method of torch.optim.AdamW, with factors on the steps: the practical optimiser of attention bodies (spec:
    other systems 3.5).

    Adam takes the size out of a gradient, so a factor is applied to the step, decay included: as a factor of the rate,
    which it is for `Sgd` too. Decay is decoupled: w -= rate * c * w.
    """

    def _prepare(self, decays: Mapping[str, float], factors: Mapping[str, float | torch.Tensor]) -> None:
        for name, decay in decays.items():
            self._groups[decay].append(name)
        self._scaled = [
            (self._parameters[name], torch.as_tensor(factor, dtype=torch.float32).to(self._parameters[name].device))
            for name, factor in factors.items()
        ]
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
        for coefficient, members in self._groups.items():
            gradients = self._gradients(members)
            moments = [self._moments[name] for name in gradients]
            adamw(
                [self._parameters[name] for name in gradients],
                [*gradients.values()],
                [moment["exp_avg"] for moment in moments],
                [moment["exp_avg_sq"] for moment in moments],
                [],
                [moment["step"] for moment in moments],
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


MUON_MOMENTUM = 0.95
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of Jordan's iteration: singular values between 0 and 1 end between 0.7 and 1.2."""
ITERATIONS = 5


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """(K, rows, columns) float32 -> nearly U V^T of each one's singular value decomposition U S V^T, by
    `ITERATIONS` of Newton and Schulz."""
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(Optimiser):
    """Momentum, made orthogonal: for kernels and matrices, a row for each output channel (K. Jordan 2024; KataGo since
    December 2025).

    m = 0.95 m + g; w -= rate * c * w + muon_factor * rate * factor * sqrt(max(1, rows/columns)) orthogonal(g + 0.95 m).
    Parameters of one shape are stacked.
    """

    def _prepare(self, decays: Mapping[str, float], factors: Mapping[str, float | torch.Tensor]) -> None:
        self._decays = decays
        self._factors = {
            name: factor.to(self._parameters[name].device) if isinstance(factor, torch.Tensor) else factor
            for name, factor in factors.items()
        }
        self._momentum = {name: torch.zeros_like(parameter) for name, parameter in self._parameters.items()}

    def _update(self, rate: float) -> None:
        shapes: dict[torch.Size, dict[str, torch.Tensor]] = defaultdict(dict)
        for name, gradient in self._gradients(self._parameters).items():
            moment = self._momentum[name].mul_(MUON_MOMENTUM).add_(gradient)
            shapes[gradient.shape][name] = gradient.add(moment, alpha=MUON_MOMENTUM).float().flatten(1)
        for shape, steps in shapes.items():
            made = orthogonal(torch.stack([*steps.values()]))
            size = self._config.muon_factor * rate * max(1.0, made.shape[1] / made.shape[2]) ** 0.5
            for name, step in zip(steps, made, strict=True):
                parameter = self._parameters[name]
                parameter.mul_(1 - rate * self._decays[name])
                parameter.sub_(size * self._factors.get(name, 1.0) * step.view(shape))


class Both(Optimiser):
    """Muon and the optimiser of all other parameters as one: gradients are clipped together."""

    def __init__(self, rest: Optimiser, muon: Optimiser, config: OptimiserConfig):
        self._parts, self._config = (rest, muon), config
        self._parameters = {name: values for part in self._parts for name, values in part._parameters.items()}

    def _update(self, rate: float) -> None:
        for part in self._parts:
            part._update(rate)

    def state(self) -> dict[str, torch.Tensor]:
        """Of both."""
        return {name: tensor for part in self._parts for name, tensor in part.state().items()}


KINDS: dict[str, type[Optimiser]] = {"sgd": Sgd, "adamw": AdamW}
"""`training.optimiser.kind` -> class."""


def make_optimiser(net: torch.nn.Module, config: OptimiserConfig, rows: int) -> Optimiser:
    """Of a net that is trained on a view of `rows` positions."""
    parameters, decay = dict(net.named_parameters()), decay_coefficient(config, rows)
    hidden = hidden_matrices(net) if config.hidden == "muon" else []

    def of(kind: type[Optimiser], names: Collection[str]) -> Optimiser:
        own = {name: parameters[name] for name in parameters if name in names}
        factors = {name: factor for name, factor in gradient_factors(net, config).items() if name in own}
        return kind(own, config, decay, set(decayed(net)) & set(own), factors)

    rest = of(KINDS[config.kind], set(parameters) - set(hidden))
    return Both(rest, of(Muon, hidden), config) if hidden else rest
