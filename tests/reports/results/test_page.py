"""A page over several studies: each enhancement once for each group of runs, q over all effects of a metric."""

from dataclasses import dataclass, replace

import pytest

from ablations.study import Looks
from reports.results.compare import StudyAnalysis, judge_page
from reports.results.study_results import StudyResults
from reports.stats.verdicts import EffectVerdict, discovery_rates
from tests.reports.made_studies import plan_study
from tests.reports.worth.made import effect

CARDS = ("parametric_relu", "ko_plane", "ladder_input", "last_move_input")


@dataclass
class Analysed:
    results: StudyResults
    analyses: dict


def analysed(folder, p_values: dict[str, float | None], metric="nats", n=4, delta=-0.03, at_base=None, **options):
    """A study of these cards whose effects have these p; None: no result."""
    study = plan_study(folder, *p_values, **options).study
    made = {card: replace(effect(delta, 0.01, n=n), p=p) for card, p in p_values.items() if p is not None}
    analysis = StudyAnalysis(metric, made, at_base or {}, {}, {}, (8, 8), None)
    empty = StudyAnalysis("nats", {}, {}, {}, {}, (8, 8), None)
    return Analysed(StudyResults(study, (), {}, {}), {(0, "nats"): empty, (0, metric): analysis})


def on_page(rows, metric="nats"):
    """(study, card) -> what the page says."""
    return {(row.report.results.study.id, row.card): row.effects.get((0, metric)) for row in rows}


def test_q_is_over_all_effects_of_all_bases(tmp_path):
    p_values = dict(zip(CARDS, (0.03, 0.2, 0.01, 0.04), strict=True))
    bases = ("gonn-b5", "gonn-b4")
    apart = [
        analysed(tmp_path / str(number), {card: p}, base=bases[number % 2])
        for number, (card, p) in enumerate(p_values.items())
    ]
    found = on_page(judge_page(apart))
    q = dict(zip(p_values, discovery_rates(list(p_values.values())), strict=True))
    assert {card: page.effect.q for (_, card), page in found.items()} == pytest.approx(q)
    verdicts = {card: page.verdict for (_, card), page in found.items()}
    assert verdicts["ladder_input"] is EffectVerdict.HELPS
    assert verdicts["parametric_relu"] is EffectVerdict.LEANS_HELPING  # alone, with q = p = 0.03, it helps
    assert on_page(judge_page(apart[:1]))[apart[0].results.study.id, CARDS[0]].verdict is EffectVerdict.HELPS
    assert all(page.could_show > 0.01 for page in found.values())


def test_an_enhancement_of_two_studies_of_one_group_has_one_row_and_counts_once(tmp_path):
    one = analysed(tmp_path / "a", {"parametric_relu": 0.02})
    both = analysed(tmp_path / "b", {"parametric_relu": 0.02, "ko_plane": 0.3}, seeds=(1, 2, 3))
    found = judge_page([one, both])
    assert [row.card for row in found] == ["parametric_relu", "ko_plane"]
    assert [row.effects[0, "nats"].effect.q for row in found] == pytest.approx([0.04, 0.3])


@pytest.mark.parametrize("other", [{"budget": "cpu"}, {"base": "gonn-b4"}, {"samples": 25_000}])
def test_other_conditions_are_groups_with_rows_of_their_own(tmp_path, other):
    one = analysed(tmp_path / "a", {"parametric_relu": 0.02})
    two = analysed(tmp_path / "b", {"parametric_relu": 0.03}, **other)
    found = [row.effects[0, "nats"].effect.q for row in judge_page([one, two])]
    assert found == pytest.approx([0.03, 0.03])


def test_a_row_is_of_a_finished_study_then_of_one_with_looks(tmp_path):
    plain = analysed(tmp_path / "plain", {"parametric_relu": 0.02})
    looks = analysed(
        tmp_path / "looks", {"parametric_relu": 0.03}, looks=Looks(seeds=(4, 8), futility=None, spent=0), seeds=(1, 2)
    )
    unfinished = analysed(tmp_path / "unfinished", {"parametric_relu": None}, seeds=(1, 2, 3))
    for order in ([plain, looks, unfinished], [unfinished, looks, plain]):
        (row,) = judge_page(order)
        assert row.report is looks and row.effects[0, "nats"].effect.q == 0.03
    (row,) = judge_page([unfinished])
    assert row.effects == {}


def test_metrics_and_first_looks_are_apart_and_only_what_is_shown_counts(tmp_path):
    one = analysed(tmp_path / "a", {"parametric_relu": 0.02})
    two = analysed(tmp_path / "b", {"ko_plane": 0.03}, metric="top1")
    look = analysed(tmp_path / "c", {"ladder_input": 0.04}, first_look=True)
    found = judge_page([one, two, look])
    assert found[0].effects[0, "nats"].effect.q == 0.02 and found[1].effects[0, "top1"].effect.q == 0.03
    assert found[2].effects[0, "nats"].effect.q == 0.04
    assert judge_page([one, two], [(0, "nats")])[1].effects == {}


def test_too_few_runs_have_no_q_and_cost_the_others_none(tmp_path):
    one, few = analysed(tmp_path / "a", {"parametric_relu": 0.02}), analysed(tmp_path / "b", {"ko_plane": 0.01}, n=2)
    first, second = (row.effects[0, "nats"] for row in judge_page([one, few]))
    assert first.effect.q == 0.02 and second.effect.q is None and second.could_show is None
    assert second.verdict is EffectVerdict.UNDERPOWERED
