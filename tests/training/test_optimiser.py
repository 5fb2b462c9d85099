"""Both optimisers against torch's own; their factors, decay, clipping and state."""

import copy

import pytest
import torch

from gonn_core.config import OptimiserConfig
from gonn_core.training.optimiser import AdamW, Sgd, decay_coefficient

SGD, ADAMW = OptimiserConfig(), OptimiserConfig(kind="adamw")
KINDS = {
    "sgd": (Sgd, SGD, 0.1),
    "momentum": (Sgd, OptimiserConfig(nesterov=False), 0.1),
    "plain": (Sgd, OptimiserConfig(momentum=0.0, nesterov=False), 0.1),
    "adamw": (AdamW, ADAMW, 0.01),
}
"""Name -> class, configuration, rate."""


@pytest.fixture
def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.Flatten(), torch.nn.Linear(27, 4))


def parameters(net):
    return dict(net.named_parameters())


def backward(net, step):
    net.zero_grad()
    net(torch.randn(5, 2, 5, 5, generator=torch.Generator().manual_seed(step))).pow(2).mean().backward()


def reference(net, config, rate, decay=0.01, decayed=("0.weight", "2.weight")):
    groups = [
        {"params": [value], "weight_decay": decay if name in decayed else 0.0} for name, value in net.named_parameters()
    ]
    if config.kind == "adamw":
        return torch.optim.AdamW(groups, lr=rate)
    return torch.optim.SGD(groups, lr=rate, momentum=config.momentum, nesterov=config.nesterov)


@pytest.mark.parametrize("kind", KINDS)
def test_without_factors_it_is_torchs(net, kind):
    made, config, rate = KINDS[kind]
    other = copy.deepcopy(net)
    ours, torchs = made(parameters(net), config, 0.01, ["0.weight", "2.weight"], {}), reference(other, config, rate)
    for step in range(6):
        for group in torchs.param_groups:
            group["lr"] = rate / (step + 1)
        backward(net, step), backward(other, step)
        ours.step(rate / (step + 1)), torchs.step()
        for name, value in parameters(net).items():
            assert torch.equal(value, other.get_parameter(name)), (step, name)


@pytest.mark.parametrize("kind", ["sgd", "adamw"])
def test_a_factor_is_a_rate_of_its_own(net, kind):
    """Element by element, for gradients that do not depend on the weights."""
    made, config, rate = KINDS[kind]
    mask = torch.ones(1, 1, 3, 3)
    mask[..., 1, 1] = 1.5
    names = list(parameters(net))
    others = {scale: copy.deepcopy(net) for scale in (1.0, 1.5, 0.25)}
    ours = made(parameters(net), config, 0.01, names, {"0.weight": mask, "2.bias": 0.25})
    torchs = [reference(other, config, rate * scale, decayed=names) for scale, other in others.items()]
    for step in range(4):
        for one in (net, *others.values()):
            for i, value in enumerate(one.parameters()):
                value.grad = torch.randn(value.shape, generator=torch.Generator().manual_seed(7 * step + i))
        ours.step(rate)
        for one in torchs:
            one.step()
        expected = {name: others[1.0].get_parameter(name).detach().clone() for name in names}
        expected["0.weight"][..., 1, 1] = others[1.5].get_parameter("0.weight")[..., 1, 1].detach()
        expected["2.bias"] = others[0.25].get_parameter("2.bias").detach()
        for name, value in parameters(net).items():
            torch.testing.assert_close(value.detach(), expected[name], rtol=1e-5, atol=1e-6, msg=name)
        for other in others.values():  # only the factor differs from step to step
            other.load_state_dict(net.state_dict())


def test_only_the_named_decay(net):
    before = {name: value.detach().clone() for name, value in parameters(net).items()}
    made, config, _ = KINDS["plain"]
    ours = made(parameters(net), config, 0.5, ["0.weight", "2.weight"], {"2.weight": 0.5})
    for value in net.parameters():
        value.grad = torch.zeros_like(value)
    ours.step(0.1)
    shrunk = {"0.weight": 1 - 0.1 * 0.5, "2.weight": 1 - 0.1 * 0.5 * 0.5}
    for name, value in parameters(net).items():
        torch.testing.assert_close(value.detach(), before[name] * shrunk.get(name, 1.0))


def test_decay_is_shared_among_the_rows_and_a_fixed_one_is_added():
    assert decay_coefficient(SGD, 3_000_000) == pytest.approx(1e-7)
    assert decay_coefficient(SGD, 10) == decay_coefficient(SGD, 1000) == pytest.approx(3e-4)
    fixed = OptimiserConfig(weight_decay_rows=0.0, weight_decay=3e-5)
    assert decay_coefficient(fixed, 10) == decay_coefficient(fixed, 30_000_000) == 3e-5
    assert decay_coefficient(OptimiserConfig(weight_decay=3e-5), 3_000_000) == pytest.approx(1e-7 + 3e-5)


@pytest.mark.parametrize("kind", ["sgd", "adamw"])
def test_state_goes_in_and_out(net, kind):
    made, config, rate = KINDS[kind]
    other = copy.deepcopy(net)
    first, second = (made(parameters(one), config, 0.01, [], {}) for one in (net, other))
    for step in range(3):
        backward(net, step), first.step(rate)
    other.load_state_dict(net.state_dict())
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    for one, optimiser in ((net, first), (other, second)):
        backward(one, 9), optimiser.step(rate)
    for name, value in parameters(net).items():
        assert torch.equal(value, other.get_parameter(name))
    with pytest.raises(ValueError, match="moments of other parameters"):
        second.load_state({"strange": torch.zeros(1)})


@pytest.mark.parametrize("kind", [Sgd, AdamW])
def test_a_parameter_without_gradient_stays(net, kind):
    config = OptimiserConfig(kind="adamw" if kind is AdamW else "sgd", clip_norm=1.0)
    optimiser = kind(parameters(net), config, 0.5, list(parameters(net)), {"2.weight": 0.5})
    before = copy.deepcopy(net)
    backward(net, 0)
    net[2].weight.grad = net[2].bias.grad = None
    optimiser.step(0.1)
    assert torch.equal(net[2].weight, before[2].weight) and torch.equal(net[2].bias, before[2].bias)
    assert not torch.equal(net[0].weight, before[0].weight)


def test_the_norm_over_all_gradients_is_clipped_before_decay_and_factors(net):
    config = OptimiserConfig(momentum=0.0, nesterov=False, clip_norm=0.5)
    values = {name: value.detach().clone() for name, value in parameters(net).items()}
    optimiser = Sgd(parameters(net), config, 0.1, ["0.weight"], {"0.weight": 2.0})
    for scale, factor in ((0.01, 1.0), (10.0, None)):  # below the norm nothing happens
        for name, value in parameters(net).items():
            value.data.copy_(values[name])
        gradients = {
            name: scale * torch.randn(value.shape, generator=torch.Generator().manual_seed(len(name)))
            for name, value in parameters(net).items()
        }
        norm = torch.cat([gradient.flatten() for gradient in gradients.values()]).norm().item()
        factor = factor or 0.5 / norm
        assert (norm < 0.5) == (factor == 1)
        for name, value in parameters(net).items():
            value.grad = gradients[name].clone()
        optimiser.step(0.1)
        for name, value in parameters(net).items():
            step = factor * gradients[name]
            step = 2.0 * (step + 0.1 * values[name]) if name == "0.weight" else step
            torch.testing.assert_close(value.detach(), values[name] - 0.1 * step, rtol=1e-5, atol=1e-6, msg=name)
