"""Pages of a made screen and of a made factorial: what is said, what stands in the tables, which files there are."""

import csv
import io
import json

import pytest
from rich.console import Console

from ablations.screens.arms import screen_arms
from ablations.screens.flips import Flips
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.stats.verdicts import EffectVerdict
from reports.study.render import write_report
from reports.study.report import make_report
from reports.study.terminal import print_report
from tests.reports.made_studies import plan_study, registry, train

CARDS = (
    "parametric_relu", "ladder_input", "ko_plane", "dilated_convolutions", "global_pooling_head", "stdev_pooling",
    "chain_pooling", "history_dropping",
)  # fmt: skip
MAIN_EFFECTS = {"parametric_relu": -0.03, "chain_pooling": -0.02}
TWO = ("parametric_relu", "chain_pooling")


def levels(made, effects, interactions) -> dict[str, float]:
    """Arm -> its true difference to the mean of all."""
    found = {}
    for arm in made.study.arms:
        signs = {
            each.card: 1 if arm.id in each.with_it else -1 if arm.id in each.without else 0
            for each in made.study.contrasts
        }
        found[arm.id] = sum(size * signs[card] / 2 for card, size in effects.items())
        found[arm.id] += sum(size / 2 * signs[one] * signs[other] for (one, other), size in interactions.items())
    return found


def written(made, out):
    return write_report(made.study, load_results(made.study, made.runs, made.study_folder), out, made.registry)


@pytest.fixture(scope="module")
def screen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("screen")
    held, left = {"liberty_planes": "as in gonn-b5: claimed"}, {"last_move_input": "needs what the base lacks"}
    made = plan_study(folder, *CARDS, design="screen", seeds=(1, 2), runs=32, held=held, left_out=left)
    train(made, levels(made, MAIN_EFFECTS, {TWO: 0.03}))
    return made, written(made, folder / "out")


def test_runs_are_counted_and_main_effects_judged(screen):
    _, files = screen
    analysis = files.report.analyses[MAIN, "nats"]
    assert {card: effect.n for card, effect in analysis.table.effects.items()} == {
        card: 8 if card in ("global_pooling_head", "stdev_pooling") else 16 for card in CARDS
    }
    assert {card for card, verdict in analysis.table.verdicts.items() if verdict is EffectVerdict.HELPS} == set(
        MAIN_EFFECTS
    )
    rows = {row["card"]: row for row in csv.DictReader(io.StringIO((files.folder / "effects.csv").read_text("utf-8")))}
    assert (rows["ko_plane"]["runs_with"], rows["ko_plane"]["runs_without"]) == ("16", "16")
    assert "(16 and 16 runs, 1,958 positions of 40 games)" in files.report.sentences[0]


def test_page_says_what_a_screen_answers_and_what_to_do_next(screen):
    made, files = screen
    text = files.markdown.read_text(encoding="utf-8")
    for part in (
        "A screen of 8 enhancements in 32 runs, 1 held, 1 left out.",
        "is the mean over the other 7 on and off, not the effect at the base",
        "from repeated runs of the same arm",
        "Interactions of two enhancements against repeated runs, all at once: F",
        "Behind it may be parametric_relu×chain_pooling",
        "screen.png",
        "needs what the base lacks",
        "varied in 8 of 16 arms",
    ):
        assert part in text, part
    commands = [each.command for each in files.report.said if each.command]
    settings = "--base gonn-b5 --data kgs --budget smoke"
    assert commands == [
        f"gonn ablate {','.join(CARDS)} {settings} --design screen --runs 64 --seeds 1,2 --fold parametric_relu",
        f"gonn ablate parametric_relu,chain_pooling {settings} --seeds 4..16",
    ]
    tree = json.loads(files.data.read_text())
    assert tree["said"][0].startswith("A screen of 8") and tree["analyses"][0]["noise"]["replicated"]


def test_interaction_that_stands_out_is_taken_apart(screen):
    _, files = screen
    found = files.report.of_runs
    (string,) = found.shown
    assert string.first == TWO and string.estimate.value == pytest.approx(0.03, abs=0.005)
    pair = next(each for each in found.pairs if {each.one, each.other} == set(TWO))
    effect = pair.of_one if pair.one == "parametric_relu" else pair.of_other
    assert [each.value for each in effect] == pytest.approx([-0.06, 0.0], abs=0.008)
    rows = list(csv.DictReader(io.StringIO((files.folder / "interactions.csv").read_text("utf-8"))))
    assert rows[0]["verdict"] == "shown" and "cannot be told from the fractions" in {row["verdict"] for row in rows}
    assert {"pairs.csv", "pair-means.csv", "screened.csv", "screen.png", "screen.svg"} <= {
        path.name for path in files.folder.iterdir()
    }


def test_folding_on_the_named_card_tells_the_pair_from_the_rest(screen):
    """The trials of the screen are those of the first half of the folded one."""
    made, files = screen
    formed = [registry().card(card).on_base("gonn-b5") for card in CARDS]
    folded = screen_arms(Flips("gonn-b5", made.study.arms[0].config, formed), formed, "parametric_relu")
    assert [arm.config for arm in folded.arms[: len(made.study.arms)]] == [arm.config for arm in made.study.arms]


def test_terminal_has_commands_in_one_piece_and_no_table_of_arms(screen, capsys):
    _, files = screen
    console = Console(width=100, record=True, file=io.StringIO())
    print_report(files.report, console)
    text = console.export_text()
    assert f"  gonn ablate {','.join(CARDS)} --base gonn-b5" in text and "Arms:" not in text


def test_unfinished_screen_uses_the_runs_that_there_are(tmp_path):
    made = plan_study(tmp_path, *CARDS[:4], design="screen", seeds=(1, 2), runs=8)
    first, *rest = made.study.trials
    train(made, {}, skip=[(trial.arm, trial.seed) for trial in (*rest[5:],)])
    report = make_report(load_results(made.study, made.runs, made.study_folder), made.registry)
    left_out = report.analyses[MAIN, "nats"].left_out
    assert left_out and all(
        "cannot tell it from the other effects" in why or "run with" in why for why in left_out.values()
    )
    assert any("effects use all runs that there are" in note for note in report.notes)
    nothing = plan_study(tmp_path / "none", *CARDS[:4], design="screen", seeds=(1, 2), runs=8)
    empty = make_report(load_results(nothing.study, nothing.runs, nothing.study_folder), nothing.registry)
    assert set(empty.analyses[MAIN, "nats"].left_out.values()) == {"no finished run"} and empty.of_runs is None


def test_a_factorial_shows_what_each_does_alone(tmp_path):
    made = plan_study(tmp_path, *CARDS[:3], design="factorial", seeds=(1, 2))
    train(made, levels(made, {"parametric_relu": 0.11}, {("parametric_relu", "ladder_input"): 0.38}))
    files = written(made, tmp_path / "out")
    text = files.markdown.read_text(encoding="utf-8")
    rows = {
        (row["card"], row["beside"]): row
        for row in csv.DictReader(io.StringIO((files.folder / "pairs.csv").read_text("utf-8")))
    }
    both = rows["parametric_relu", "ladder_input"]
    assert float(both["without"]) == pytest.approx(-0.27, abs=0.01) and float(both["with"]) == pytest.approx(
        0.49, abs=0.01
    )
    assert "An enhancement without and with another" in text and "Each enhancement alone and beside all others" in text
    assert "Interactions of three and more, all at once: F" in text and "--fold" not in text
    assert (files.folder / "screen.png").is_file()
