"""p adjusted over all effects of a page, whatever commands made them."""

from dataclasses import replace

import pytest

from reports.results.compare import StudyAnalysis, arm_key
from reports.results.page_family import EffectKey, judge_page
from reports.stats.analysis import TableAnalysis
from reports.stats.estimates import Interval
from reports.stats.family import adjust
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect
from tests.reports.made_studies import plan_study
from tests.reports.stats.checks import made_effect

THRESHOLDS = Thresholds()


def analysed(folder, p_values: dict[str, float], seeds=(1, 2, 3, 4), metric="nats", n=None, **options):
    """A study of these cards whose effects have these p, as if it had been analysed by itself."""
    study = plan_study(folder, *p_values, seeds=seeds, **options).study
    keys = {arm.id: arm_key(arm) for arm in study.arms}
    effects = {}
    for contrast in study.contrasts:
        weights = {keys[contrast.with_it[0]]: 1.0, keys[contrast.without[0]]: -1.0}
        ends = {"delta": -0.02, "interval95": Interval(-0.03, -0.01), "interval90": Interval(-0.028, -0.012)}
        p = p_values[contrast.card]
        effects[contrast.card] = made_effect(p, n or len(seeds), name=contrast.card, weights=weights, **ends)
    adjusted = adjust(effects) if (n or len(seeds)) >= THRESHOLDS.min_seeds else {}
    effects = {card: replace(each, p_adjusted=adjusted.get(card)) for card, each in effects.items()}
    verdicts = {card: judge_effect(each, "lower", 0.002, THRESHOLDS) for card, each in effects.items()}
    table = TableAnalysis(effects, verdicts, dict.fromkeys(effects, 0.002), {}, None, None, 0.0)
    return study, {(0, metric): StudyAnalysis(metric, table, {})}


def effect(study, card: str):
    return study[1][0, "nats"].table.effects[card]


def on_page(found, study, card: str, metric="nats"):
    return found[EffectKey(study[0].id, 0, metric, card)]


def test_of_one_study_its_own_p_stands(tmp_path):
    one = analysed(tmp_path, {"parametric_relu": 0.02, "ko_plane": 0.2})
    found = judge_page([one])
    for card in ("parametric_relu", "ko_plane"):
        assert on_page(found, one, card).p == effect(one, card).p_adjusted and on_page(found, one, card).family == 2


def test_studies_of_one_base_are_adjusted_together_as_one_study_would_be(tmp_path):
    p_values = {"parametric_relu": 0.03, "ko_plane": 0.2, "ladder_input": 0.01, "last_move_input": 0.04}
    together = analysed(tmp_path / "one", p_values)
    apart = [analysed(tmp_path / card, {card: p}) for card, p in p_values.items()]
    found = judge_page(apart)
    for study, card in zip(apart, p_values, strict=True):
        page = on_page(found, study, card)
        assert page.p == pytest.approx(effect(together, card).p_adjusted) and page.family == 4
        assert effect(study, card).p_adjusted == p_values[card] <= page.p
    assert on_page(found, apart[0], "parametric_relu").verdict is EffectVerdict.NOT_SHOWN  # alone it helps
    assert apart[0][1][0, "nats"].table.verdicts["parametric_relu"] is EffectVerdict.HELPS


def test_a_first_look_is_no_part_of_the_others_family(tmp_path):
    full = analysed(tmp_path / "full", {"parametric_relu": 0.03})
    other = analysed(tmp_path / "other", {"ko_plane": 0.2})
    study, analyses = analysed(tmp_path / "look", {"ladder_input": 0.01}, seeds=(1, 2, 3))
    look = study.model_copy(update={"first_look": True}), analyses
    with_it, without = judge_page([full, other, look]), judge_page([full, other])
    assert on_page(with_it, full, "parametric_relu") == on_page(without, full, "parametric_relu")
    assert on_page(with_it, look, "ladder_input").p == effect(look, "ladder_input").p_adjusted


def test_the_same_arms_in_two_studies_are_shown_twice_and_counted_once(tmp_path):
    prelu, both = (
        analysed(tmp_path / "a", {"parametric_relu": 0.02}),
        analysed(tmp_path / "b", {"parametric_relu": 0.02, "ko_plane": 0.3}),
    )
    once, twice = judge_page([both]), judge_page([prelu, both])
    assert len(twice) == 3
    for card in ("parametric_relu", "ko_plane"):
        assert on_page(twice, both, card).p == pytest.approx(on_page(once, both, card).p)
        assert on_page(twice, both, card).family == 2
    assert on_page(twice, prelu, "parametric_relu").p == pytest.approx(on_page(twice, both, "parametric_relu").p)


def test_of_the_same_arms_the_one_with_more_seeds_counts_for_the_others(tmp_path):
    few = analysed(tmp_path / "a", {"parametric_relu": 0.9})
    many = analysed(tmp_path / "b", {"parametric_relu": 0.001}, seeds=(1, 2, 3, 4, 5, 6, 7, 8))
    other = analysed(tmp_path / "c", {"ko_plane": 0.04})
    found = judge_page([few, many, other])
    beside_many = judge_page([many, other])
    assert on_page(found, other, "ko_plane").p == pytest.approx(on_page(beside_many, other, "ko_plane").p)
    assert on_page(found, few, "parametric_relu").p >= 0.9 > on_page(found, many, "parametric_relu").p


def test_controls_of_other_seeds_have_nothing_in_common(tmp_path):
    """Two effects on the same control arm: correlated at the same seeds, independent at others, as Sidak has it."""
    first, same, other = (
        analysed(tmp_path / "a", {"parametric_relu": 0.02}),
        analysed(tmp_path / "b", {"ko_plane": 0.5}),
        analysed(tmp_path / "c", {"ko_plane": 0.5}, seeds=(5, 6, 7, 8)),
    )
    shared = on_page(judge_page([first, same]), first, "parametric_relu").p
    apart = on_page(judge_page([first, other]), first, "parametric_relu").p
    assert apart == pytest.approx(1 - 0.98**2) and shared < apart


@pytest.mark.parametrize("other", [{"budget": "cpu"}, {"base": "gonn-b4"}])
def test_effects_on_other_bases_and_budgets_are_picked_from_too(tmp_path, other):
    one, two = (
        analysed(tmp_path / "a", {"parametric_relu": 0.02}),
        analysed(tmp_path / "b", {"parametric_relu": 0.03}, **other),
    )
    found = judge_page([one, two])
    assert on_page(found, one, "parametric_relu").p == pytest.approx(1 - 0.98**2)
    assert on_page(found, two, "parametric_relu").p == pytest.approx(1 - 0.98**2)  # step-down never goes back


def test_metrics_are_families_of_their_own_and_only_what_is_shown_counts(tmp_path):
    one, two = (
        analysed(tmp_path / "a", {"parametric_relu": 0.02}),
        analysed(tmp_path / "b", {"ko_plane": 0.03}, metric="top1"),
    )
    found = judge_page([one, two])
    assert {page.family for page in found.values()} == {1} and on_page(found, two, "ko_plane", "top1").p == 0.03
    assert list(judge_page([one, two], [(0, "nats")])) == [EffectKey(one[0].id, 0, "nats", "parametric_relu")]


def test_too_few_seeds_have_no_p_and_cost_the_others_none(tmp_path):
    one, two, few = (
        analysed(tmp_path / "a", {"parametric_relu": 0.02}),
        analysed(tmp_path / "b", {"ko_plane": 0.5}),
        analysed(tmp_path / "c", {"ladder_input": 0.5}, seeds=(1, 2)),
    )
    found = judge_page([one, two, few])
    assert on_page(found, few, "ladder_input").p is None
    assert on_page(found, few, "ladder_input").verdict is EffectVerdict.UNDERPOWERED
    without = on_page(judge_page([one, two]), one, "parametric_relu")
    assert on_page(found, one, "parametric_relu").p == pytest.approx(without.p)
    assert on_page(found, one, "parametric_relu").family == without.family == 2
