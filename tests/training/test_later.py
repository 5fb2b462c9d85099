"""Muon, Lookahead, label smoothing, growing batches and the harder half, each against a slow reference."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.nets import hidden_matrices, multiply_adds
from gonn_core.settings.training import LookaheadConfig
from gonn_core.training.cost import training_flops
from gonn_core.training.loop import Lookahead
from gonn_core.training.objective import split
from gonn_core.training.optimiser import MUON_MOMENTUM, orthogonal
from gonn_core.training.schedule import learning_rate, ramp_thirds
from gonn_core.training.selection import SMALL_NET
from tests.training.options import new_trainer, option_config, real_batches


def weights_of(trainer):
    return {name: values.detach().clone() for name, values in trainer.net.named_parameters()}


@pytest.mark.parametrize("shape", [(8, 72), (72, 8), (12, 12)])
def test_a_matrix_is_made_orthogonal(shape):
    matrices = torch.randn(3, *shape, generator=torch.Generator().manual_seed(1))
    made = orthogonal(matrices)
    for matrix, step in zip(matrices, made, strict=True):
        u, _, v = torch.linalg.svd(matrix, full_matrices=False)
        values = torch.linalg.svdvals(step)
        assert values.min() > 0.5 and values.max() < 1.3
        assert F.cosine_similarity((u @ v).flatten(), step.flatten(), dim=0) > 0.97


def test_muon_moves_hidden_kernels_by_its_formula_and_the_rest_as_without_it():
    muon, plain = (new_trainer(option_config(name, net__trunk__blocks=2)) for name in ("muon", ""))
    hidden, momentum = hidden_matrices(muon.net), {}
    assert sorted(hidden) == [f"blocks.{block}.conv{k}" for block in (1, 2) for k in (1, 2)]
    for step, batch in enumerate(real_batches(muon.config, 2)):
        before = weights_of(muon)
        plain.net.load_state_dict(muon.net.state_dict())
        rate = learning_rate(muon.config.training, muon.samples)
        muon.step(batch), plain.step(batch)
        for name, values in muon.net.named_parameters():
            if name not in hidden:
                assert step or torch.equal(values, plain.net.get_parameter(name)), name
                continue
            g = values.grad.flatten(1)
            momentum[name] = MUON_MOMENTUM * momentum.get(name, 0) + g
            made = orthogonal((g + MUON_MOMENTUM * momentum[name])[None])[0].view_as(values)
            decay = 1 - rate * muon.config.training.optimiser.weight_decay_rows / 1000
            torch.testing.assert_close(values, decay * before[name] - 0.1 * rate * made, msg=name)


def test_slow_weights_of_a_script():
    """Every second step both go to the point a quarter of the way from the slow to the fast ones."""
    net = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.constant_(net.weight, 0.0)
    lookahead, found = Lookahead(LookaheadConfig(every=2, share=0.25), net), []
    for step in range(1, 5):
        with torch.no_grad():
            net.weight.add_(4.0)
        lookahead.step(step)
        found.append(net.weight.item())
    assert found == [4.0, 2.0, 6.0, 4.0]  # 0 -> 8: 2; 2 -> 10: 4


def test_slow_weights_begin_with_those_of_another_net_and_the_rate_is_divided_by_their_share():
    ahead, plain = (new_trainer(option_config(name)) for name in ("lookahead", ""))
    start = {name: values + 1 for name, values in plain.net.state_dict().items()}
    for trainer in (ahead, plain):
        trainer.start_from(start)
    state = ahead.state()
    assert all(torch.equal(state[f"lookahead.{name}"], start[name]) for name in weights_of(ahead))
    (batch,) = real_batches(ahead.config, 1)
    ahead.step(batch), plain.step(batch)
    assert ahead.rate == 2 * plain.rate


def test_smoothed_labels_have_torchs_gradient_and_nats_stay_plain():
    config = option_config("label_smoothing")
    (batch,) = real_batches(config, 1)
    smooth, plain = new_trainer(config), new_trainer(option_config(""))
    loss = smooth.step(batch)
    logits = plain.net(batch.planes)
    expected = F.cross_entropy(logits, batch.targets, label_smoothing=0.1)
    expected.backward()
    torch.testing.assert_close(loss, expected.detach())
    for name, values in plain.net.named_parameters():
        torch.testing.assert_close(smooth.net.get_parameter(name).grad, values.grad, rtol=1e-4, atol=1e-6, msg=name)
    nats = F.cross_entropy(logits, batch.targets).item()
    assert smooth.train_means() == pytest.approx(
        {"nats": nats, "loss": loss.item(), "top1": smooth.train_means()["top1"]}
    )


def test_batches_grow():
    """In the first third four steps of two positions at half of the rate, then two, then one: as a trainer takes them
    that is given the parts."""
    config = option_config("batch_ramp")
    assert [ramp_thirds(config.training, samples)[0] for samples in (0, 264, 272, 528, 536, 792)] == [4, 4, 2, 2, 1, 1]
    (batch,) = real_batches(config, 1)
    ramped, parted = new_trainer(config), new_trainer(option_config("", training__optimiser__learning_rate=0.05))
    ramped.step(batch)
    for part in split(batch, 4):
        parted.step(part)
    assert ramped.samples == parted.samples == 8
    for name, values in ramped.net.named_parameters():
        assert torch.equal(values, parted.net.get_parameter(name)), name


def test_the_harder_half_of_a_batch_is_trained_on():
    """The slow weights of a Lookahead change neither the choice nor how the small net learns."""
    config = option_config("hardest")
    trainer, plain = new_trainer(config), new_trainer(option_config("hardest", training__hardest=1.0))
    ahead = new_trainer(option_config("hardest", training__lookahead__every=6))
    small = new_trainer(config)._selection.net
    (batch,) = real_batches(config, 1)
    losses = F.cross_entropy(small(batch.planes), batch.targets, reduction="none").detach()
    chosen = [k for k in range(8) if (losses > losses[k]).sum() < 4]
    trainer.step(batch)
    plain.step(batch._replace(planes=batch.planes[chosen], targets=batch.targets[chosen]))
    assert (trainer.samples, plain.samples) == (8, 4)
    for name, values in trainer.net.named_parameters():
        assert torch.equal(values, plain.net.get_parameter(name)), name
    moved = [
        not torch.equal(a, b) for a, b in zip(small.parameters(), trainer._selection.net.parameters(), strict=True)
    ]
    assert all(moved)
    ahead.step(batch)
    for name, values in trainer._selection.net.named_parameters():
        assert torch.equal(values, ahead._selection.net.get_parameter(name)), name


def test_operations_of_training():
    """Three passes of everything that learns; the optimiser's by step, of which a ramp makes more."""
    plain = option_config("")
    trainer = new_trainer(plain)
    numbers = sum(values.numel() for values in trainer.net.parameters())
    passes, step = 6 * multiply_adds(plain.net, 26), 2 * 3 * numbers / 8
    assert training_flops(plain) == passes + step
    assert training_flops(option_config("batch_ramp")) == pytest.approx(passes + step * (4 + 2 + 1) / 3)
    newton_schulz = 2 * 5 * (2 * 8**2 * 72 + 8**3) * 2 / 8  # two kernels (8, 72)
    assert training_flops(option_config("muon")) == pytest.approx(passes + step + newton_schulz)
    joint, value = (option_config("", **{f"training__auxiliary__{name}": 0.1}) for name in ("joint_reply", "value"))
    assert training_flops(value) - passes - step == 6 * (8 * 32 + 32 * 2) + 6 * (8 * 32 + 32 + 32 * 2 + 2) / 8
    assert training_flops(joint) - passes - step == 6 * 32 * (8 + 361 * 8) + 6 * (8 * 32 + 32 + 8 * 32) / 8
    small = new_trainer(option_config("hardest"))._selection.net
    extra = 6 * multiply_adds(SMALL_NET, 26) + 6 * sum(values.numel() for values in small.parameters()) / 8
    assert training_flops(option_config("hardest")) == pytest.approx(passes / 2 + step + extra)
