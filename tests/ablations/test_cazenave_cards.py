"""Cazenave's bases and cards: what the document says of them, their arms, and the negative control."""

import itertools

import pytest
import torch

from ablations.arms import resolve
from ablations.claimed import Comparison, conditions_of, differences
from ablations.registry import load_registry
from ablations.wording import leading_claim
from gonn_core.config import with_values
from gonn_core.features.sets import plane_names
from gonn_core.nets import count_parameters, trial_net
from gonn_core.training.batches import PlaneMaker, training_batches
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from gonn_core.trial.job import RunSettings, progress_points
from tests.trial.helpers import starter_data

CPU = torch.device("cpu")
BASES = {
    *("cazenave-7x128", "cazenave-7x128-plain", "cazenave-14x256"),
    *("cazenave-fig13", "cazenave-fig13-golois", "cazenave-fig13-identity"),
}


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def test_bases_see_45_planes_and_train_as_published(registry):
    assert {base.id for base in registry.bases.values() if base.system == "cazenave"} == BASES
    for name in BASES:
        config = registry.base(name).config
        assert len(plane_names(config.features)) == 45 and len(set(plane_names(config.features))) == 45
        assert config.training.batch_size == 50 and config.training.loss == "squared_error"
        assert (config.data.sampling, config.data.augmentation) == ("replacement", "sample")
        fig13 = name.startswith("cazenave-fig13")
        assert config.training.optimiser.learning_rate == (2.0 if fig13 else 0.2)
        assert config.training.schedule.kind == ("constant" if fig13 else "stall_halving")


@pytest.mark.parametrize(
    "name, kernels, blocks, width, planes",
    [("cazenave-7x128", 2_215_296, 7, 128, 1), ("cazenave-14x256", 16_816_896, 14, 256, 3)],
)
def test_parameters(registry, name, kernels, blocks, width, planes):
    """The counts without biases, plus biases, plus two more output planes."""
    net = registry.base(name).config.net
    assert count_parameters(net, 45) == kernels + width + 2 * blocks * width + 9 * width * (planes - 1)


def test_the_four_nets_of_figure_13(registry):
    """Golois best, then residual, then identity, then original: a claim on the training error of each pair."""
    order, pairs = ["golois", "residual", "identity", "original"], set()
    for card in (card for card in registry.cards.values() if card.system == "cazenave"):
        for claim in card.claims:
            if claim.metric == "train_loss" and claim.samples == 20_000_000:
                conditions = conditions_of(registry, card, claim)
                off, on = (config.net.residual.block for config in (conditions.off, conditions.on))
                assert claim.bounds is None and claim.window == 500_000 and off != on
                assert claim.direction == ("decrease" if order.index(on) < order.index(off) else "increase")
                pairs.add(frozenset((off, on)))
    assert pairs == {frozenset(pair) for pair in itertools.combinations(order, 2)}


@pytest.mark.parametrize("samples, judged", [(1_000, False), (50_000, False), (5_000_000, True), (20_000_000, True)])
def test_the_consistently_smaller_error_is_judged_from_the_first_point_of_the_curve_on(registry, samples, judged):
    arms = resolve(registry, "golois_block", "gpu")
    off, on = (with_values(arm, {"training.samples": samples}) for arm in (arms.off, arms.on))
    (claim,) = (claim for claim in arms.card.claims if claim.id == "error")
    told = differences(registry, Comparison(arms.card, off, on, "gogod"), claim)
    assert told == (() if judged else (f"samples ({samples:,}; claimed from 5,000,000 on)",))


@pytest.mark.parametrize("budget, judged", [("paper", True), ("gpu", False)])
def test_a_training_error_is_judged_over_the_window_of_the_document(registry, budget, judged):
    """20M samples, so that the two budgets differ in their progress points alone."""
    arms = resolve(registry, "original_block", budget, base="cazenave-fig13")
    off, on = (with_values(arm, {"training.samples": 20_000_000}) for arm in (arms.off, arms.on))
    every, usual = arms.budget.progress_every, RunSettings.model_fields["progress_points"].default
    points = progress_points(20_000_000, 50, 20_000_000 // every if every else usual)
    window = points[-1] - points[-2]
    told = differences(registry, Comparison(arms.card, off, on, "gogod", window=window), arms.card.claims[0])
    assert told == (() if judged else ("the window (1,666,650 instead of the last 500,000 samples)",))


@pytest.mark.parametrize("planes, blocks, told", [(3, 7, ()), (1, 6, ("net.residual.blocks (6 instead of 7)",))])
def test_output_planes_are_no_condition_where_the_document_does_not_tell_them(registry, planes, blocks, told):
    arms = resolve(registry, "golois_block", "paper")
    values = {"net.residual.output_planes": planes, "net.residual.blocks": blocks}
    off, on = (with_values(arm, values) for arm in (arms.off, arms.on))
    assert differences(registry, Comparison(arms.card, off, on, "gogod"), arms.card.claims[0]) == told


def trained(config, steps, data):
    trainer = Trainer(config, len(data.views["train"].rows), CPU, "channels_last")
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS["channels_last"])
    return [trainer.step(batch).item() for batch in training_batches(config, data.views["train"], maker, 0, steps, 1)]


def test_the_zeros_plane_changes_nothing(registry):
    """The negative control: equal outputs at start, equal losses over 40 steps (the sums run over one more plane:
    rounding apart)."""
    reset_torch(1)
    data = starter_data()
    arms = resolve(registry, "zeros_plane", "smoke")
    small = {
        "data.view": data.views["train"].digest,
        "training.batch_size": 4,
        "training.samples": 160,
        "net.residual.width": 8,
        "net.residual.blocks": 1,
        "features.ladders": False,
        "training.optimiser.learning_rate": 0.01,
    }
    off, on = (with_values(arm, small) for arm in (arms.off, arms.on))
    first = next(
        iter(
            training_batches(
                on, data.views["train"], PlaneMaker(data.store, on.features, CPU, torch.channels_last), 0, 1, 1
            )
        )
    )
    zeros = plane_names(on.features).index("zeros")
    assert not first.planes[:, zeros].any()
    others = [k for k in range(len(plane_names(on.features))) if k != zeros]
    with torch.no_grad():
        torch.testing.assert_close(
            trial_net(on)(first.planes), trial_net(off)(first.planes[:, others]), rtol=1e-5, atol=1e-5
        )
    assert trained(on, 40, data) == pytest.approx(trained(off, 40, data), rel=1e-4)


def test_the_headline_leads_and_the_first_look_is_no_part_of_it(registry):
    """BUDGET=paper trains three planes to the end of the published run: 'initially worse' is not judged there."""
    card, paper = registry.card("three_output_planes"), registry.budget("paper")
    assert leading_claim(card.claims).id == "accuracy"
    arms = resolve(registry, card.id, "paper")
    assert arms.base.id == "cazenave-14x256" and arms.off.training.samples == arms.base.schedule_end
    comparison = Comparison(arms.card, arms.off, arms.on, "gogod", "1900-2016")
    apart = {claim.id: differences(registry, comparison, claim) for claim in card.claims}
    assert not apart["accuracy"] and any(text.startswith("samples") for text in apart["early_accuracy"])
    assert paper.progress_every == 500_000  # what the training errors of Fig. 13 are means over
