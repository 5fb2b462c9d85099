"""The optimiser against torch's own, its factors, its decay, its state."""

import copy

import pytest
import torch

from gonn_core.config import OptimiserConfig
from gonn_core.training.optimiser import Sgd, decay_coefficient


@pytest.fixture
def net():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.Flatten(), torch.nn.Linear(27, 4))


def backward(net, step):
    generator = torch.Generator().manual_seed(step)
    net(torch.randn(5, 2, 5, 5, generator=generator)).pow(2).mean().backward()


def parameters(net):
    return dict(net.named_parameters())


@pytest.mark.parametrize("momentum, nesterov", [(0.9, True), (0.9, False), (0.0, False)])
def test_without_factors_it_is_torchs_sgd(net, momentum, nesterov):
    reference = copy.deepcopy(net)
    config = OptimiserConfig(momentum=momentum, nesterov=nesterov)
    ours = Sgd(parameters(net), config, decay=0.01, decayed=list(parameters(net)), factors={})
    torchs = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=momentum, nesterov=nesterov, weight_decay=0.01)
    for step in range(6):
        rate = 0.1 / (step + 1)
        for group in torchs.param_groups:
            group["lr"] = rate
        ours.zero_grad(), torchs.zero_grad()
        backward(net, step), backward(reference, step)
        ours.step(rate), torchs.step()
        for name, value in parameters(net).items():
            assert torch.equal(value, reference.get_parameter(name)), (step, name)


def test_a_factor_is_a_rate_of_its_own(net):
    """A factor on the whole gradient (data and decay) equals that factor on the learning rate, element by element."""
    mask = torch.ones(1, 1, 3, 3)
    mask[..., 1, 1] = 1.5
    factors = {"0.weight": mask, "2.bias": 0.25}
    nets = {scale: copy.deepcopy(net) for scale in (1.0, 1.5, 0.25)}
    ours = Sgd(parameters(net), OptimiserConfig(), 0.01, list(parameters(net)), factors)
    others = {
        scale: torch.optim.SGD(other.parameters(), lr=0.1 * scale, momentum=0.9, nesterov=True, weight_decay=0.01)
        for scale, other in nets.items()
    }
    gradients = [
        {
            name: torch.randn(value.shape, generator=torch.Generator().manual_seed(7 * step + i))
            for i, (name, value) in enumerate(parameters(net).items())
        }
        for step in range(5)
    ]
    for step in range(5):
        for one in (net, *nets.values()):
            for name, value in parameters(one).items():
                value.grad = gradients[step][name].clone()
        ours.step(0.1)
        for optimiser in others.values():
            optimiser.step()
    expected = {name: nets[1.0].get_parameter(name).detach().clone() for name in parameters(net)}
    expected["0.weight"][..., 1, 1] = nets[1.5].get_parameter("0.weight")[..., 1, 1].detach()
    expected["2.bias"] = nets[0.25].get_parameter("2.bias").detach()
    for name, value in parameters(net).items():
        torch.testing.assert_close(value.detach(), expected[name], rtol=1e-6, atol=1e-7)


def test_only_the_named_decay(net):
    before = {name: value.detach().clone() for name, value in parameters(net).items()}
    ours = Sgd(
        parameters(net), OptimiserConfig(momentum=0.0, nesterov=False), 0.5, ["0.weight", "2.weight"], {"2.weight": 0.5}
    )
    for value in net.parameters():
        value.grad = torch.zeros_like(value)
    ours.step(0.1)
    shrunk = {"0.weight": 1 - 0.1 * 0.5, "2.weight": 1 - 0.1 * 0.5 * 0.5}
    for name, value in parameters(net).items():
        torch.testing.assert_close(value.detach(), before[name] * shrunk.get(name, 1.0))


def test_decay_is_shared_among_the_rows():
    assert decay_coefficient(OptimiserConfig(), 3_000_000) == pytest.approx(1e-7)
    assert decay_coefficient(OptimiserConfig(), 10) == decay_coefficient(OptimiserConfig(), 1000) == pytest.approx(3e-4)


def test_a_fixed_decay_is_added_whatever_the_rows():
    fixed = OptimiserConfig(weight_decay_rows=0.0, weight_decay=3e-5)
    assert decay_coefficient(fixed, 10) == decay_coefficient(fixed, 30_000_000) == 3e-5
    both = OptimiserConfig(weight_decay=3e-5)
    assert decay_coefficient(both, 3_000_000) == pytest.approx(1e-7 + 3e-5)


def test_state_goes_in_and_out(net):
    twin = copy.deepcopy(net)
    first = Sgd(parameters(net), OptimiserConfig(), 0.01, [], {})
    second = Sgd(parameters(twin), OptimiserConfig(), 0.01, [], {})
    for step in range(3):
        first.zero_grad(), backward(net, step), first.step(0.1)
    twin.load_state_dict(net.state_dict())
    second.load_state({name: tensor.clone() for name, tensor in first.state().items()})
    for one, optimiser in ((net, first), (twin, second)):
        optimiser.zero_grad(), backward(one, 9), optimiser.step(0.1)
    for name, value in parameters(net).items():
        assert torch.equal(value, twin.get_parameter(name))
    with pytest.raises(ValueError, match="other parameters"):
        second.load_state({"strange": torch.zeros(1)})


def test_names_must_be_parameters(net):
    with pytest.raises(ValueError, match="no such parameters"):
        Sgd(parameters(net), OptimiserConfig(), 0.0, [], {"3.weight": 2.0})
