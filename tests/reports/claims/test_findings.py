"""Claims beside measurements: which are judged, which are only compared, and what stands in `ours`."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reports.claims.findings import find_claims
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.study.report import make_report
from reports.study.tables import report_tables
from reports.weights.statistics import statistic
from tests.reports.made_studies import plan_study, registry, registry_with, train

CLAIMS = {
    "right": {"value": -0.025},
    "wide": {"range": [-0.040, -0.014]},
    "too_large": {"value": -0.2},
    "too_small": {"range": [-0.004, 0.0]},
    "wrong_way": {"direction": "increase", "value": 0.02},
    "only_direction": {},
    "nothing_happens": {"direction": "no_change"},
    "from_memory": {"value": -0.025, "evidence": "unverified_memory"},
    "later": {"value": -0.025, "samples": 15_000_000},
    "earlier": {"value": -0.025, "samples": 1_000_000},
    "unknown_net": {"value": -0.025, "base": None},
    "any_samples": {"value": -0.025, "samples": None, "stage": "any"},
    "hits": {"metric": "top1", "direction": "increase"},
    "rank": {"metric": "rank"},
    "probability": {"metric": "probability", "direction": "increase"},
    "training": {"metric": "train_nats"},
    "speed": {"metric": "samples_per_s_ratio", "value": 0.9},
    "games": {"metric": "win_rate", "direction": "increase"},
    "probe": {
        "metric": "probe",
        "direction": "increase",
        "probe": {"position": "lastmove", "move": "A2"},
        "value": 0.4,
    },
    # slopes: 4 blocks x 2 x 192, 192 at the end of the trunk, 16 pooled ones in the head
    "count": {"metric": "parameters", "direction": "increase", "value": 1_744},
    "miscount": {"metric": "parameters", "direction": "increase", "value": 1_000},
    "slopes": {"metric": "weight_statistic", "statistic": "prelu_slope_mean", "quantity": "on", "range": [-0.4, -0.15]},
    "slopes_without": {"metric": "weight_statistic", "statistic": "prelu_slope_mean", "quantity": "off"},
    "level": {"metric": "top1", "quantity": "on", "range": [0.001, 0.999]},
    "other_level": {"metric": "top1", "quantity": "off", "value": 0.999},
    "level_elsewhere": {"metric": "top1", "quantity": "on", "value": 0.5, "samples": 15_000_000},
    "level_not_kept": {"metric": "illegal_probability", "quantity": "off", "value": 0.0},
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A study under exactly the conditions of the claims: gonn-b4 at 5M samples, 0.027 nats better with it."""
    cards, folder = registry_with(**CLAIMS), tmp_path_factory.mktemp("claims")
    made = plan_study(folder, "made_up", base="gonn-b4", budget="gpu", cards_of=cards, seeds=(1, 2, 3, 4, 5))
    train(made, {"with-made_up": -0.027}, scale=dict.fromkeys(("control", "with-made_up"), 0.2))
    return make_report(load_results(made.study, made.runs), cards)


@pytest.fixture(scope="module")
def findings(report):
    return {finding.claim.id: finding for finding in report.findings}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("right", "consistent with the claim"),  # within the claim's margin alone, not beside six other tests
        ("wide", "replicated"),
        ("too_large", "smaller than claimed"),
        ("too_small", "larger than claimed"),
        ("wrong_way", "contradicted"),
        ("only_direction", "replicated"),
        ("nothing_happens", "contradicted"),
        ("from_memory", "compared only"),
        ("later", "not tested here"),
        ("unknown_net", "not tested here"),
        ("any_samples", "consistent with the claim"),
        ("hits", "replicated"),
        ("rank", "replicated"),
        ("probability", "replicated"),
        ("training", "replicated"),
        ("speed", "not measured yet"),
        ("games", "not measured yet"),
        ("probe", "not measured yet"),
        ("count", "count agrees"),
        ("miscount", "count differs"),
        ("slopes", "not measured yet"),
        ("slopes_without", "not measured yet"),
        ("level", "replicated"),
        ("other_level", "smaller than claimed"),
        ("level_elsewhere", "not tested here"),
        ("level_not_kept", "not measured yet"),
    ],
)
def test_verdicts(findings, claim, verdict):
    assert findings[claim].verdict == verdict


def test_a_level_is_the_mean_of_its_own_arm(report, findings):
    arm = report.results.study.contrasts[0].with_it[0]
    mean = float(report.results.arm_result(arm, MAIN, "top1").means.mean())
    value, low, high = findings["level"].measured.value
    assert value == pytest.approx(mean) and low < value < high
    assert "5 seeds" in findings["level"].measured.note and len(findings["level"].measured.trials) == 5


def test_claims_of_a_card_are_judged_together(report, findings):
    """Seven different numbers are judged: nats, top-1, rank, probability, training loss and two levels."""
    judged = {name for name, finding in findings.items() if finding.measured.tests}
    assert judged.isdisjoint(("from_memory", "later", "speed", "count", "level_elsewhere"))
    assert {findings[name].measured.tests for name in judged} == {7}
    assert findings["right"].measured.note == "99.29 % interval meets the claim ± 0.00625"
    (note,) = report_tables(report).table("claims").notes
    assert note.startswith("Different numbers behind the judged claims: made_up 7.")


def test_q_is_over_a_cards_claims(tmp_path):
    """What is shown by itself need not be among several: the same study, with one claim and with two."""
    few, found = {"training": {"metric": "train_nats"}}, {}
    for name, claims in (("few", few), ("many", few | {"nats": {}})):
        cards = registry_with(**claims)
        made = plan_study(tmp_path / name, "made_up", base="gonn-b4", budget="gpu", cards_of=cards, seeds=(1, 2, 3, 4))
        train(made, {"with-made_up": -0.007})
        report = make_report(load_results(made.study, made.runs), cards)
        found[name] = next(each for each in report.findings if each.claim.id == "training")
    q = [report.analyses[MAIN, metric].effect("made_up").q for metric in ("train_nats", "nats")]
    assert q[0] < 0.05 < 2 * q[0] and q[1] > 0.05  # what the study is made for
    assert found["few"].verdict == "replicated" and found["many"].verdict == "not shown"
    assert "smaller than 0.0" in found["many"].measured.note


def test_claimed_and_ours_are_next_to_each_other(report, findings):
    rows = {row.key.removeprefix("made_up: "): row.cells for row in report_tables(report).table("claims").rows}
    assert list(rows) == list(CLAIMS)
    effect, ours = report.nats.effect("made_up"), rows["right"]["ours"]
    assert ours.text.startswith(f"−{abs(effect.delta):.4f} [") and ours.value[1] == effect.delta
    assert {name: rows[name]["claimed"].text for name in ("too_small", "only_direction", "probe", "slopes")} == {
        "too_small": "nats: −0.004 to 0",
        "only_direction": "nats: decrease",
        "probe": "probability of A2 in lastmove: +40.00 points",
        "slopes": "prelu slope mean with it: −0.4 to −0.15",
    }
    assert rows["right"]["conditions"].text == "gonn-b4, 5M samples" and "gonn_sandbox" in rows["right"]["source"].text
    assert "samples (5,000,000 instead of 15,000,000)" in findings["later"].measured.note
    assert "the net" in findings["unknown_net"].measured.note


def test_a_claim_on_two_nets_is_held_against_the_effect_at_the_base(report):
    """Where the headline is a mean over the others on and off."""
    nats = report.nats
    mean = {"made_up": replace(nats.effect("made_up"), delta=-0.5, is_mean=True)}
    cards = registry_with(**CLAIMS)

    def ours(at_base):
        analyses = {**report.analyses, (MAIN, "nats"): replace(nats, effects=mean, at_base=at_base)}
        return next(each.measured for each in find_claims(report.results, cards, analyses) if each.claim.id == "wide")

    found = ours(dict(nats.effects))
    assert found.value[0] == nats.effect("made_up").delta and found.verdict == "replicated"
    assert (ours({}).verdict, ours({}).note) == ("not measured yet", "its runs do not tell the effect at the base")


def test_two_losses_are_not_compared(tmp_path):
    """The cpu budget trains Cazenave's nets on cross-entropy, the document on the squared error."""
    for budget, told in (("cpu", "not measured yet"), ("paper", "not tested here")):
        made = plan_study(tmp_path / budget, "golois_block", base="cazenave-fig13", budget=budget, seeds=(1, 2))
        train(made, {})
        found = make_report(load_results(made.study, made.runs), registry()).findings
        (finding,) = (each for each in found if each.claim.metric == "train_loss")
        assert finding.verdict == told and finding.tested == (finding.measured.text != "–")
        other = "training.loss (cross_entropy instead of squared_error)"
        assert (other in finding.measured.note) == (budget == "cpu")


def test_parameters_are_counted_on_the_claims_own_net(tmp_path):
    """Of a smoke budget with nothing trained; a count from memory is compared only."""
    count = {"metric": "parameters", "direction": "increase", "value": 1_744}
    cards = registry_with(count=count, recalled={**count, "evidence": "unverified_memory"})
    made = plan_study(tmp_path, "made_up", base="gonn-b4", cards_of=cards, seeds=(1,))
    stated, recalled = make_report(load_results(made.study, made.runs), cards).findings
    assert stated.verdict == "count agrees" and stated.measured.text == "+1,744 on gonn-b4"
    assert "(smoke budget): +84" in stated.measured.note
    assert recalled.verdict == "compared only" and "count agrees" in recalled.measured.note


def test_speed_is_stated_but_never_judged(tmp_path):
    cards = registry_with(speed={"metric": "samples_per_s_ratio", "value": 0.9})
    made = plan_study(tmp_path, "made_up", base="gonn-b4", cards_of=cards, seeds=(1,))
    speeds = {arm: {"samples_per_s": rate, "device": "cpu"} for arm, rate in (("control", 1000), ("with-made_up", 800))}
    (made.study_folder / "speed.json").write_text(json.dumps(speeds))
    (finding,) = make_report(load_results(made.study, made.runs, made.study_folder), cards).findings
    assert (finding.measured.text, finding.verdict) == ("× 0.80 on cpu", "not tested here")
    assert "the device (cpu)" in finding.measured.note


# Weights


def test_slopes_of_the_final_weights_beside_the_untrained_ones(tmp_path):
    """Slopes end 0.25 lower, centres of kernels doubled."""
    usual = {"metric": "weight_statistic", "quantity": "on", "samples": None, "stage": "any"}
    slopes = CLAIMS["slopes"] | {"base": "gonn-b4", "samples": None, "stage": "any"}
    centre = usual | {"statistic": "kernel_center_to_edge", "direction": "increase"}
    cards = registry_with(slopes=slopes, centre=centre)
    made = plan_study(tmp_path, "made_up", base="gonn-b4", cards_of=cards, seeds=(1, 2))
    train(made, {}, weights=True)
    found = {finding.claim.id: finding for finding in make_report(load_results(made.study, made.runs), cards).findings}
    assert found["slopes"].measured.text == "−0.25 over 5 layers (untrained 0)"
    assert found["slopes"].measured.value == pytest.approx([-0.25, -0.25])
    assert "5 of 5 layers moved" in found["slopes"].measured.note
    low, high = found["centre"].measured.value
    assert 1.7 < low < high < 2.3 and len(found["centre"].trials) == 2


def test_a_ratio_of_kernels_that_start_at_0_is_not_measured(tmp_path):
    usual = {"metric": "weight_statistic", "quantity": "on", "samples": None, "stage": "any"}
    cards = registry_with(centre=usual | {"statistic": "kernel_center_to_edge", "direction": "increase"})
    first = {"net.trunk.zero_last": True}
    made = plan_study(tmp_path, "made_up", base="gonn-b4", cards_of=cards, seeds=(1, 2), reading=first)
    train(made, {}, weights=True)
    (found,) = make_report(load_results(made.study, made.runs), cards).findings
    assert found.measured.note == "a layer of the first or the final weights has no such statistic"


def test_every_layer_has_to_bear_a_claim_out(tmp_path, monkeypatch):
    """Slopes of two layers end at about -0.25 with every seed, kernels' centres are doubled."""

    def trained(name, trial, cache):
        around = {"prelu_slope_mean": -0.25, "kernel_center_to_edge": 2.0}[name]
        return {"one": around + 0.01 * trial.seed, "other": around - 0.01 * trial.seed}

    def untrained(name, config, cache):
        return dict.fromkeys(("one", "other"), {"prelu_slope_mean": 0.0, "kernel_center_to_edge": 1.0}[name])

    monkeypatch.setattr("reports.claims.measures.trained_statistic", trained)
    monkeypatch.setattr("reports.claims.measures.untrained_statistic", untrained)
    monkeypatch.setattr("reports.claims.measures.has_weights", lambda trial: True)
    usual = {"metric": "weight_statistic", "quantity": "on", "samples": None, "stage": "any"}
    slopes = usual | {"statistic": "prelu_slope_mean"}
    centre = usual | {"statistic": "kernel_center_to_edge", "direction": "increase"}
    claims = {
        "slopes": slopes | {"range": [-0.4, -0.15]},
        "steeper": slopes | {"range": [-0.9, -0.6]},
        "flatter": slopes | {"value": -0.1},
        "other_way": slopes | {"direction": "increase"},
        "negative": slopes | {"range": [None, 0.0]},
        "centre": centre | {"range": [1.8, 2.2]},
        "grows": centre,
        "elsewhere": centre | {"samples": 15_000_000, "stage": None},
        "beyond": centre | {"range": [0.2, 0.5]},
    }
    cards = registry_with(**claims)
    made = plan_study(tmp_path, "made_up", base="gonn-b4", budget="gpu", cards_of=cards, seeds=(1, 2, 3))
    train(made, {})
    found = {each.claim.id: each for each in make_report(load_results(made.study, made.runs), cards).findings}
    assert {name: finding.verdict for name, finding in found.items()} == {
        "slopes": "replicated",
        "steeper": "smaller than claimed",
        "flatter": "larger than claimed",
        "other_way": "contradicted",
        "negative": "replicated",
        "centre": "replicated",
        "grows": "replicated",
        "elsewhere": "not tested here",
        "beyond": "not tested here",
    }
    assert found["slopes"].measured.note.startswith("97.5 % interval within the claim ± 0.1; 2 of 2 layers moved")
    assert found["elsewhere"].measured.note.count("differs from the claim") == 1


def test_statistics_by_hand():
    kernel = np.zeros((1, 1, 3, 3))
    kernel[0, 0] = [[1, 2, 1], [2, 6, 2], [1, 2, 1]]
    slopes = {
        "blocks.1.slopes1": [-0.1, -0.3],
        "trunk_end.slopes": [0.2, 0.2],
        "head.pooled.slopes": [0.3, 0.5],
        "blocks.2.pooled.slopes": [9.0],
    }
    weights = {"blocks.1.conv1": kernel, "head.conv": kernel * 100} | {
        name: np.array(values) for name, values in slopes.items()
    }
    assert statistic("kernel_rms_center", weights) == {"blocks.1.conv1": 6.0}
    assert statistic("kernel_center_to_edge", weights) == {"blocks.1.conv1": 3.0}
    assert statistic("kernel_corner_to_edge", weights) == {"blocks.1.conv1": 0.5}
    assert statistic("prelu_slope_mean", weights) == pytest.approx({"blocks.1.slopes1": -0.2, "trunk_end.slopes": 0.2})
    assert statistic("prelu_slope_sd", weights) == pytest.approx({"blocks.1.slopes1": 0.1, "trunk_end.slopes": 0.0})
    assert statistic("prelu_pooled_slope_mean", weights) == pytest.approx({"head.pooled.slopes": 0.4})


def test_symmetry_of_filters_by_hand():
    """Share of the variance about each filter's mean that all 8 symmetries leave alone, slot by slot."""
    generator = np.random.default_rng(0)
    filters = generator.normal(0.3, 1.0, (5, 2, 7, 7))
    kept = whole = 0.0
    for one in filters.reshape(-1, 7, 7):
        one = one - one.mean()
        orbits: dict[tuple[int, int], list[float]] = {}
        for (row, column), value in np.ndenumerate(one):
            orbits.setdefault(tuple(sorted((abs(row - 3), abs(column - 3)))), []).append(value)
        assert len(orbits) == 10  # the free weights of a tied kernel of 7x7
        kept += sum(len(values) * np.mean(values) ** 2 for values in orbits.values())
        whole += float((one**2).sum())
    assert statistic("kernel_symmetry", {"stem.kernel": filters}) == {"stem.kernel": pytest.approx(kept / whole)}
    rows, columns = np.indices((7, 7)) - 3
    ring = np.tile(np.hypot(rows, columns), (4, 3, 1, 1)) * generator.normal(size=(4, 3, 1, 1)) + 1.0
    assert statistic("kernel_symmetry", {"stem.kernel": ring})["stem.kernel"] == pytest.approx(1.0)
    sloped = np.tile(columns.astype(float), (4, 3, 1, 1))
    assert statistic("kernel_symmetry", {"stem.kernel": sloped})["stem.kernel"] == pytest.approx(0.0)
    assert statistic("kernel_symmetry", {"layers.2.kernel": filters, "stem.bias": filters[:, 0, 0, 0]}) == {}
