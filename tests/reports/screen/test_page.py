"""Pages of a made screen and of a made factorial: what is said, what is in the tables, which files there are."""

import csv
import io

import pytest

from reports.results.decisions import load_results
from reports.screen.figure import draw_runs
from reports.screen.interactions import folded_tables, printed_tables
from reports.stats.verdicts import EffectVerdict
from reports.study.render import write_report
from reports.study.report import make_report
from tests.reports.made_studies import plan_study, train

CARDS = (
    "parametric_relu", "ladder_input", "ko_plane", "dilated_convolutions", "global_pooling_head", "stdev_pooling",
    "chain_pooling", "history_dropping",
)  # fmt: skip
MAIN_EFFECTS = {"parametric_relu": -0.04, "chain_pooling": -0.03}


def levels(made, effects, interactions) -> dict[str, float]:
    """Arm -> its true difference to the mean of all. interactions: of both together beyond the sum of each."""
    found = {}
    for arm in made.study.arms:
        signs = {
            each.card: 1 if arm.id in each.with_it else -1 if arm.id in each.without else 0
            for each in made.study.contrasts
        }
        found[arm.id] = sum(size * signs[card] / 2 for card, size in effects.items())
        found[arm.id] += sum(size / 4 * signs[one] * signs[other] for (one, other), size in interactions.items())
    return found


def read(made):
    return load_results(made.study, made.runs)


def rows(files, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((files.folder / f"{name}.csv").read_text("utf-8"))))


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("screen")
    held, left = {"liberty_planes": "as in gonn-b5: claimed"}, {"last_move_input": "needs what the base lacks"}
    made = plan_study(folder, *CARDS, design="screen", budget="cpu", seeds=(1, 2), runs=32, held=held, left_out=left)
    train(made, levels(made, MAIN_EFFECTS, {}))
    return made, write_report(made.study, read(made), folder / "out", made.registry)


def test_runs_are_counted_and_main_effects_judged(screen):
    _, files = screen
    nats = files.report.nats
    runs = dict.fromkeys(CARDS, (16, 16)) | {
        "global_pooling_head": (16, 8),
        "stdev_pooling": (8, 16),
    }  # the base has one
    assert {card: effect.runs for card, effect in nats.effects.items()} == runs
    assert {card for card, verdict in nats.verdicts.items() if verdict is EffectVerdict.HELPS} == set(MAIN_EFFECTS)
    assert nats.runs == (32, 32) and set(nats.at_base) == set(CARDS)


def test_the_largest_interactions_are_printed_and_all_are_folded(screen):
    _, files = screen
    pairs = {frozenset(pair) for pair in ((each.one, each.other) for each in files.report.pairs)}
    assert len(pairs) == 27 and {"global_pooling_head", "stdev_pooling"} not in pairs  # never in one arm
    printed, every = rows(files, "interactions"), rows(files, "all-interactions")
    assert len(printed) == 10 and every[:10] == printed and len(every) == 27
    sizes = [abs(float(row["predicted"])) for row in every]
    assert sizes == sorted(sizes, reverse=True) and {row["verdict"] for row in every} == {"not shown"}
    for row in every:
        beyond = [float(row[key]) for key in ("both", "neither", "only_one", "only_other")]
        assert beyond[0] + beyond[1] - beyond[2] - beyond[3] == pytest.approx(float(row["predicted"]), abs=4e-5)
    assert {"screened.csv", "screen.png", "screen.svg"} <= {path.name for path in files.folder.iterdir()}


def test_no_interaction_is_told_of_an_unfinished_screen(tmp_path):
    made = plan_study(tmp_path, *CARDS[:4], design="screen", budget="cpu", seeds=(1, 2), runs=8)
    train(made, {}, skip=[(trial.arm, trial.seed) for trial in made.study.trials[6:]])
    report = make_report(read(made), made.registry)
    assert (
        report.pairs == () == printed_tables(report.results, report.pairs)
        and report.nats.left_out
        and draw_runs(report) == {}
    )


def test_an_interaction_of_a_factorial_that_is_shown(tmp_path):
    made = plan_study(tmp_path, *CARDS[:3], design="factorial", budget="cpu", seeds=(1, 2, 3))
    train(made, levels(made, {"parametric_relu": 0.1}, {CARDS[:2]: 0.4}))
    report = make_report(read(made), made.registry)
    pair = report.pairs[0]
    assert {pair.one, pair.other} == set(CARDS[:2])
    assert pair.effect.delta == pytest.approx(0.4, abs=0.02) == pair.predicted and pair.effect.q < 0.001
    # The mean effect is that without the other and half the interaction.
    means = {card: value - pair.cells[False, False] for card, value in (
        (pair.one, pair.cells[True, False]), (pair.other, pair.cells[False, True]))}  # fmt: skip
    assert means == pytest.approx({"parametric_relu": -0.1, "ladder_input": -0.2}, abs=0.02)
    (interactions,) = printed_tables(report.results, report.pairs)
    assert [row.cells["verdict"].text for row in interactions.rows] == ["shown", "not shown", "not shown"]
    assert folded_tables(report.results, report.pairs) == ()
    assert any(each.text.startswith(f"Shown: {pair.one} × {pair.other} +0.") for each in report.said)
    assert not any(each.command for each in report.said)


def test_one_at_a_time_has_no_table_of_interactions(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", "chain_pooling", budget="cpu", seeds=(1, 2, 3))
    train(made, {})
    report = make_report(read(made), made.registry)
    assert report.said == () == printed_tables(report.results, report.pairs)
    assert folded_tables(report.results, report.pairs) == ()


def test_single_runs_tell_no_interactions_and_nothing_at_the_base(tmp_path):
    made = plan_study(tmp_path, *CARDS, design="screen", budget="cpu", seeds=(1, 2), runs=16)
    train(made, levels(made, MAIN_EFFECTS, {}))
    report = make_report(read(made), made.registry)
    assert (
        report.nats.is_mean
        and not report.nats.at_base
        and report.pairs == () == printed_tables(report.results, report.pairs)
    )
    assert report.said[0].text.endswith(" over the other enhancements on and off; of 16 runs of gonn-b5.")
    assert "cannot be separated from the noise" in report.said[1].text
