"""Claims about nets without history: read in the evaluation without it, in games without it, in two positions."""

import json

import pytest
from scipy.stats import ttest_1samp

from ablations.schema import Claim
from gonn_core.config import parse_model
from gonn_core.errors import SettingError
from gonn_core.evaluation.probes.suite import picture_cases
from gonn_core.go.points import point
from reports.claims import measures
from reports.play.win_rates import SeedGames, WinRate, win_rate_effect
from reports.results.decisions import load_results
from reports.stats.verdicts import EffectVerdict
from reports.study.report import make_report
from tests.reports.made_studies import plan_study, registry_with, train

CLAIMS = {
    "with_it": {"direction": "no_change"},
    "without": {"history": "none"},
    "plays": {"metric": "win_rate", "direction": "increase", "history": "none"},
    "answers": {
        "metric": "probe",
        "probe": {"position": "lastmove", "minus": "nolastmove", "move": "A2"},
        "quantity": "on",
        "direction": "increase",
        "value": 0.451,
    },
}


def planned(folder, cards, evaluations=None):
    values = {} if evaluations is None else {"evaluations": evaluations}
    return plan_study(folder, "made_up", base="gonn-b4", budget="gpu", cards_of=cards, seeds=(1, 2, 3), **values)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    cards = registry_with(**CLAIMS)
    usual = planned(tmp_path_factory.mktemp("usual"), cards).study.evaluations
    made = planned(tmp_path_factory.mktemp("more"), cards, (*usual, usual[0].model_copy(update={"history": "none"})))
    train(made, {"with-made_up": -0.03})
    return made, cards


def findings(made, cards):
    return {each.claim.id: each.measured for each in make_report(load_results(made.study, made.runs), cards).findings}


def test_it_is_read_in_the_evaluation_of_its_history(made):
    found = findings(*made)
    assert found["with_it"].evaluation == 0 and found["without"].evaluation == 3
    assert found["without"].verdict == "replicated" and len(found["without"].trials) == 6


def test_a_study_without_such_an_evaluation_says_so(tmp_path):
    cards = registry_with(**CLAIMS)
    made = planned(tmp_path, cards)
    train(made, {"with-made_up": -0.03})
    measured = findings(made, cards)["without"]
    assert measured.verdict == "not measured yet"
    assert measured.note == "the study has no evaluation with no history: gonn ablate makes it"


def test_games_without_history_answer_it(made, monkeypatch):
    def rates(results):
        seeds = tuple(SeedGames(seed, ("one", "other"), 60.0 + seed, 100) for seed in (1, 2, 3))
        for choice in ("", "history none"):
            effect = win_rate_effect("made_up", seeds)
            yield WinRate("made_up", results[0].study, 5_000_000, choice, seeds, effect, EffectVerdict.HELPS)

    assert "gonn play STUDY --how history=none" in findings(*made)["plays"].note
    monkeypatch.setattr(measures, "win_rates", lambda results: [each for each in rates(results) if not each.choice])
    assert findings(*made)["plays"].verdict == "not measured yet"
    monkeypatch.setattr(measures, "win_rates", lambda results: list(rates(results)))
    assert findings(*made)["plays"].value[0] == pytest.approx(0.12)


def test_two_positions_are_read_off_one_net(made, monkeypatch):
    """What each net says in the one less what the same net says in the other, by seed."""
    study, cards = made
    says = {"lastmove": (0.5, 0.6, 0.4), "nolastmove": (0.05, 0.1, 0.03)}
    asked = []

    def level(results, arms, case, move, head):
        asked.append((arms, case, move, head))
        return dict(zip((1, 2, 3), says[case], strict=True)), ("a", "b", "c")

    monkeypatch.setattr("reports.claims.measures.level", level)
    measured = findings(study, cards)["answers"]
    assert asked == [(("with-made_up",), name, point("A2"), "policy") for name in says]
    interval = ttest_1samp([0.45, 0.5, 0.37], 0).confidence_interval()
    assert measured.value == pytest.approx([0.44, interval.low, interval.high])
    assert measured.text.startswith("44.0 points [27.") and measured.text.endswith("] at 5M samples")
    assert "3 seeds, 37.0 to 50.0 points" in measured.note
    assert {picture_cases()[name] for name in says} == set(says)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"metric": "train_nats", "history": "none"}, "only a metric of positions has another history"),
        ({"metric": "win_rate", "direction": "increase", "history": "as_published"}, "a win rate can be one without"),
        ({"history": "some"}, "full"),
        ({**CLAIMS["answers"], "quantity": "difference"}, "is a level of one arm"),
    ],
)
def test_histories_that_make_no_sense(changes, problem):
    usual = json.loads(registry_with(one={}).card("made_up").claims[0].model_dump_json(exclude_defaults=True))
    with pytest.raises(SettingError, match=problem):
        parse_model(Claim, {**usual, **changes}, "claim")
