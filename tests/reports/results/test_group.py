"""Runs of several studies of one base as rows of one model: drawn small studies beside slow and obvious references."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from ablations.schema import Enhancement
from ablations.study import TRAINING_POSITIONS
from gonn_core.config import parse_model, with_values
from reports.results.compare import StudyAnalysis, analyse_study
from reports.results.decisions import load_results
from reports.results.group import Groups, comparison_key, own_group
from reports.results.study_results import StudyResults
from reports.stats.verdicts import Thresholds
from tests.reports.made_studies import Made, finish_trial, plan_study, registry, registry_with

TOGGLES = {
    "prelu": {"net.activation": ("relu", "prelu")},
    "narrow": {"net.trunk.width": (192, 128)},
    "kernel_three": {"net.stem.kernel": (5, 3)},
    "blocks_three": {"net.trunk.blocks": (4, 3)},
    "blocks_five": {"net.trunk.blocks": (4, 5)},
    "stem": {"net.stem.kernel": (5, 3), "net.stem.center_kernel": (False, True)},
    "head": {"net.head.kernel": (5, 3), "net.head.out_scale": (1.0, 0.5)},
    "gamma": {"net.norm_gamma": (False, True)},
}
"""Cards of `gonn-b4`, which has `gamma` and none of the others."""
PARTS = "prelu", "narrow", "kernel_three", "head"
TOGGLES["composite"] = {"net.norm_gamma": (True, False), **{k: v for part in PARTS for k, v in TOGGLES[part].items()}}
Level = Callable[[Mapping[str, str]], float]
"""What an arm is worth, by its settings that differ from the base."""


def cards():
    """A registry of TOGGLES."""
    usual = {"system": "gonn", "summary": "Drawn.", "base": "gonn-b4", "claims": []}
    made = {
        name: parse_model(
            Enhancement,
            usual
            | {"id": name, "title": name}
            | {"toggles": {path: {"off": off, "on": on} for path, (off, on) in toggles.items()}},
            name,
        )
        for name, toggles in TOGGLES.items()
    }
    found = replace(registry_with(), cards=made)
    found._checked.update({("card", name): card for name, card in made.items()})
    return found


def plan(folder, *names, base="gonn-b4", budget="gpu", cards_of=None, **options) -> Made:
    """With the main evaluation alone."""
    made = plan_study(folder, *names, base=base, budget=budget, cards_of=cards_of or cards(), **options)
    return replace(made, study=made.study.model_copy(update={"evaluations": made.study.evaluations[:1]}))


def draw(made: Made, level: Level = lambda values: 0.0, sd=0.01, skip=()) -> StudyResults:
    """Every trial that is not skipped (arm, seed) finished, with noise of its own that no other study changes."""
    for trial in made.study.trials:
        if (trial.arm, trial.seed) not in skip:
            noise = np.random.default_rng(int(trial.trial, 16)).normal(0, sd)
            finish_trial(made, trial, level(made.study.arm(trial.arm).values) + noise, noise=0.0)
    return load_results(made.study, made.runs)


def by_setting(**worth: float) -> Level:
    """`net_stem_kernel_3=0.1`: what a setting is worth, added up."""
    return lambda values: sum(worth.get(f"{path}_{value}".replace(".", "_"), 0.0) for path, value in values.items())


def measured(results: StudyResults, arm: str, metric="train_nats") -> np.ndarray:
    """Of each seed, by the order of the study's seeds."""
    if metric == "train_nats":
        return np.array([trial.curve[-1]["train_nats"] for trial in results.of_arm(arm)])
    return results.arm_result(arm, 0, metric).means


def grouped(*members: StudyResults) -> Groups:
    known = {each.study.id: each for each in members}
    return Groups([each.study for each in members], lambda study: known[study.id])


def of_groups(first: StudyResults, *others: StudyResults, metric="nats") -> StudyAnalysis:
    return analyse_study(first, metric, group=grouped(first, *others).of(first.study))


# Which runs count


def test_runs_of_studies_of_one_base_are_pooled_and_each_trial_counts_once(tmp_path):
    one = draw(plan(tmp_path, "prelu"))
    filtered = f"{one.study.coverage}{TRAINING_POSITIONS}gonn-b4 900, with head 800"
    other = draw(plan(tmp_path, "head", "narrow", seeds=(1, 2, 3), coverage=filtered))
    group = grouped(one, other).of(one.study)
    assert set(group.studies) == {one.study.id, other.study.id}
    known = {trial.id for each in (one, other) for trial in each.trials}
    assert {run.trial.id for run in group.runs} == known and len(group.runs) == len(known) == 4 + 4 + 3 + 3
    found = analyse_study(one, "nats", group=group)
    assert found.runs == (14, 8) and list(found.effects) == ["prelu"]
    (contrast,), (evaluation,) = one.study.contrasts, one.study.evaluations
    effect, _ = grouped(other, one).of(other.study).effect(one.study, contrast, "nats", evaluation)
    assert effect.delta == pytest.approx(found.effect("prelu").delta) and effect.runs == (4, 4)


@pytest.mark.parametrize("first", [0, 1])
def test_a_trial_has_the_evaluations_of_all_its_studies(tmp_path, first):
    one = draw(plan(tmp_path, "prelu"))  # with one evaluation; its control is the other study's too
    other = draw(plan_study(tmp_path, "head", base="gonn-b4", budget="gpu", cards_of=cards()))
    group = grouped(*((one, other), (other, one))[first]).of(other.study)
    for evaluation in other.study.evaluations:
        effect, _ = group.effect(other.study, other.study.contrasts[0], "nats", evaluation)
        assert effect.runs == (4, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"base": "gonn-b4-2018-01"},
        {"budget": "cpu"},
        {"reading": {"training.samples": 1_000_000}},
        {"reading": {"net.trunk.blocks": 3}},
        {"data": "gogod"},
        {"first_look": True},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_conditions_are_another_group(tmp_path, options):
    one, other = draw(plan(tmp_path, "prelu")), draw(plan(tmp_path, "prelu", "head", **options))
    group = grouped(one, other).of(one.study)
    assert group.studies == (one.study.id,) and len(group.runs) == 8


# One change at a time


def test_the_cards_of_other_studies_are_others_too(tmp_path):
    one, other = draw(plan(tmp_path, "prelu")), draw(plan(tmp_path, "head", "narrow"))
    apart, together = analyse_study(one, "train_nats"), of_groups(one, other, metric="train_nats")
    assert (apart.effect("prelu").df, together.effect("prelu").df) == (3, 5)
    assert apart.effect("prelu").delta == pytest.approx(together.effect("prelu").delta)
    assert not together.is_mean and list(together.effects) == ["prelu"]


def test_seeds_of_arms_that_see_other_positions_are_not_shared(tmp_path):
    made = plan(tmp_path, "prelu")
    control, arm = made.study.arms
    other = arm.model_copy(update={"config": with_values(arm.config, {"data.view": "d" * 20})})
    results = draw(replace(made, study=made.study.model_copy(update={"arms": (control, other)})))
    effect = analyse_study(results, "train_nats").effect("prelu")
    parts = [measured(results, each.id).var(ddof=1) / 4 for each in results.study.arms]
    assert effect.se == pytest.approx(sum(parts) ** 0.5) and effect.df == 3
    assert effect.delta == pytest.approx(measured(results, "with-prelu").mean() - measured(results, "control").mean())


@pytest.mark.parametrize("design", ["leave-one-out", "cumulative"])
def test_contrasts_of_other_designs_are_differences_of_their_two_arms(tmp_path, design):
    results = draw(plan(tmp_path, "prelu", "head", "narrow", design=design))
    analysis = analyse_study(results, "nats")
    assert not analysis.is_mean and not analysis.at_base
    for contrast in results.study.contrasts:
        with_it, without = (measured(results, side[0], "nats") for side in (contrast.with_it, contrast.without))
        effect = analysis.effect(contrast.card)
        assert effect.delta == pytest.approx((with_it - without).mean()) and effect.runs == (4, 4)
        assert analysis.in_arms(contrast) is effect


# Settings that cards share


def test_cards_that_share_a_setting_and_cards_of_two_settings(tmp_path):
    """`stem` changes the kernel as `kernel_three` does, and more: each is the difference of its own arm."""
    level = by_setting(
        net_stem_kernel_3=0.1, net_stem_center_kernel_true=0.3, net_head_kernel_3=-0.1, net_head_out_scale_0_5=-0.2
    )
    one, other = (draw(plan(tmp_path, *names), level) for names in (("stem", "head"), ("kernel_three", "head")))
    found = of_groups(one, other)
    assert found.runs == (16, 12)
    for name, results in (("stem", one), ("head", one), ("kernel_three", other)):
        difference = measured(results, f"with-{name}", "nats") - measured(results, "control", "nats")
        assert of_groups(results, one, other).effect(name).delta == pytest.approx(difference.mean())
    assert found.effect("stem").delta == pytest.approx(0.4, abs=0.04)
    assert found.effect("head").delta == pytest.approx(-0.3, abs=0.04)


def test_a_composite_card_has_the_difference_of_its_arms_and_tells_nothing_of_its_parts(tmp_path):
    """Together the parts are worth nothing like their sum."""

    def level(values):
        return 0.5 if {"net.activation", "net.trunk.width"} <= values.keys() else -0.1 * ("net.activation" in values)

    apart, composite = (draw(plan(tmp_path, *names), level) for names in (PARTS, ["composite"]))
    other = draw(plan(tmp_path, "composite", "blocks_five", design="cumulative"), level)
    for results in (composite, other):
        found = of_groups(results, apart, composite, other)
        assert not found.is_mean and not found.left_out
        for contrast in results.study.contrasts:
            with_it, without = (measured(results, *side, "nats") for side in (contrast.with_it, contrast.without))
            assert found.effect(contrast.card).delta == pytest.approx((with_it - without).mean())


def test_a_composite_card_leaves_a_factorial_of_its_parts_as_it_is(tmp_path):
    whole = draw(plan(tmp_path, *PARTS, design="factorial"), by_setting(net_activation_prelu=-0.1))
    composite = draw(plan(tmp_path, "composite"), lambda values: 0.5 * bool(values))
    before, after, of_two = of_groups(whole), of_groups(whole, composite), of_groups(composite, whole)
    for card, effect in before.effects.items():
        assert after.effect(card).delta == pytest.approx(effect.delta, abs=1e-3)
        assert after.effect(card).se == pytest.approx(effect.se, rel=0.1)
    difference = measured(composite, "with-composite", "nats") - measured(composite, "control", "nats")
    assert of_two.effect("composite").delta == pytest.approx(difference.mean())


# Runs that combine changes


def test_a_factorial_has_a_mean_effect_and_one_at_the_base(tmp_path):
    def level(values):
        prelu, narrow = "net.activation" in values, "net.trunk.width" in values
        return -0.1 * prelu + 0.05 * narrow + 0.2 * (prelu and narrow)

    results = draw(plan(tmp_path, "prelu", "narrow", design="factorial"), level, sd=0.002)
    analysis = analyse_study(results, "nats")
    mean = {arm.id: measured(results, arm.id, "nats").mean() for arm in results.study.arms}
    alone = mean["with-prelu"] - mean["control"]
    beside = mean["with-prelu+narrow"] - mean["with-narrow"]
    assert analysis.is_mean and analysis.effect("prelu").delta == pytest.approx((alone + beside) / 2)
    assert analysis.at_base["prelu"].delta == pytest.approx(alone, abs=0.002)
    assert analysis.effect("prelu").runs == (8, 8)
    (pair,) = own_group(results).pairs(results.study.evaluations[0], Thresholds())
    assert pair.effect.delta == pytest.approx(beside - alone) and pair.effect.q < 0.05
    assert pair.cells[True, True] == pytest.approx(mean["with-prelu+narrow"], abs=0.002)


def test_a_study_of_one_change_beside_a_factorial_is_judged_by_the_mean_and_claims_at_the_base(tmp_path):
    def level(values):
        return 0.2 * (len(values) == 2)

    whole = draw(plan(tmp_path, "prelu", "narrow", design="factorial"), level, sd=0.002)
    one = draw(plan(tmp_path, "prelu", seeds=(1, 2, 3, 4, 5, 6)), level, sd=0.002)
    found, (contrast,) = of_groups(one, whole), one.study.contrasts
    assert found.runs == (20, 12)
    assert found.effect("prelu").delta == pytest.approx(0.1, abs=0.01)
    assert found.in_arms(contrast) is found.at_base["prelu"]
    assert found.at_base["prelu"].delta == pytest.approx(0.0, abs=0.01)
    of_whole = of_groups(whole, one)
    assert of_whole.in_arms(whole.study.contrasts[0]) is of_whole.effect("prelu")


# What cannot be separated


def test_changes_that_were_always_made_together_are_left_out_with_the_reason(tmp_path):
    made = plan(tmp_path, "prelu", "narrow", "head", design="factorial")
    both = [each.id for each in made.study.arms if ("prelu" in each.id) == ("narrow" in each.id)]
    skip = [(arm.id, seed) for arm in made.study.arms if arm.id not in both for seed in made.study.seeds]
    analysis = analyse_study(draw(made, skip=skip), "nats")
    reason = "its runs cannot be separated from those of other changes, or of a seed"
    assert analysis.left_out == {"prelu": reason, "narrow": reason} and list(analysis.effects) == ["head"]


# Metrics of other sources


def test_the_gap_is_test_error_less_training_error(tmp_path):
    of_errors = {"base": "cazenave-fig13", "budget": "paper", "cards_of": registry()}
    results = draw(plan(tmp_path, "golois_block", seeds=(1, 2, 3), **of_errors), lambda values: 0.1 * bool(values))
    (contrast,) = results.study.contrasts

    def difference(of) -> float:
        sides = (contrast.with_it[0], contrast.without[0])
        on, off = (np.mean([of(trial) for trial in results.of_arm(arm)]) for arm in sides)
        return on - off

    tested = difference(lambda trial: np.mean(trial.evaluations[0].scores.squared_error, dtype=float))
    trained = difference(lambda trial: trial.curve[-1]["train_loss"])
    gap, loss = (analyse_study(results, name).effect("golois_block") for name in ("generalisation_gap", "train_loss"))
    assert gap.n == 3 and gap.delta == pytest.approx(tested - trained) and gap.se_eval > 0
    assert loss.se_eval == 0 and loss.delta == pytest.approx(trained)


def test_a_comparison_is_the_same_at_any_length_and_in_a_screen_with_any_others(tmp_path):
    def key(*names, seeds=(1, 2), card="prelu", **options):
        study = plan(tmp_path, *names, seeds=seeds, **options).study
        return comparison_key(study, next(each for each in study.contrasts if each.card == card))

    halved = {"training.samples": 2_500_000, "training.schedule.compression": 2.0}
    short, screen = {"reading": halved}, {"design": "screen", "runs": 8}
    alone, screened = key("prelu"), key("prelu", "narrow", "stem", **screen)
    assert alone == key("prelu", "narrow", seeds=(3,)) == key("prelu", **short)
    assert screened == key("gamma", "prelu", "head", **screen) == key("head", "prelu", "narrow", **screen, **short)
    others = [
        key("prelu", reading={"training.optimiser.learning_rate": 0.1}),
        key("prelu", "narrow", "stem", **screen, reading={"training.optimiser.learning_rate": 0.1}),
        key("prelu", budget="cpu"),
        key("narrow", card="narrow"),
    ]
    assert len({alone, screened, *others}) == 6
