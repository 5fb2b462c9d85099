"""The report over all studies: published rows with ours among them, every claim, costs, looks inside; the same bytes
every time."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from reports.book.book import book_page, worth_showing, write_book
from reports.book.claims import claims_section
from reports.book.cost import Gain, front
from reports.play.ladder import elo_of_nats, uncertainty
from reports.results.compare import OnPage
from reports.results.decisions import load_results
from reports.results.nets import level, measured_nets, net_cost
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.report import make_report
from reports.tables.cells import Table
from tests.reports.made_studies import plan_study, registry, train
from tests.reports.worth.made import effect


def reported(made):
    return make_report(load_results(made.study, made.runs, made.study_folder), made.registry)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Two studies of one base, one trained with weights, the other with half its seeds."""
    folder = tmp_path_factory.mktemp("book")
    first = plan_study(folder, "last_move_input", "parametric_relu", budget="cpu", seeds=(1, 2, 3))
    train(first, {"without-last_move_input": 0.4}, weights=True)
    second = plan_study(folder, "ko_plane", "board_history_copy", budget="cpu", seeds=(1, 2, 3, 4))
    train(second, {}, skip=[("with-board_history_copy", seed) for seed in (1, 2, 3, 4)])
    return [reported(made) for made in (first, second)]


@pytest.fixture(scope="module")
def sections(reports):
    return {section.title: section for section in book_page(reports, [], registry()).sections}


def table(sections, name: str) -> Table:
    return next(each for section in sections.values() for each in section.all_tables if each.name == name)


def rows(found: Table) -> dict[str, dict]:
    return {key: row.cells for row in found.rows if (key := row.key)}


def test_a_shared_control_is_one_net_with_the_seeds_of_both_studies(reports):
    nets = measured_nets([report.results for report in reports])
    control = [net for net in nets if net.base]
    assert len(control) == 1 and [trial.seed for trial in control[0].trials] == [1, 2, 3, 4]
    assert len({net.name for net in nets}) == len(nets) == 4  # the arm without any trial is no net
    found = level(control[0], 0, "nats")
    trials = [trial.evaluations[0].summary["nats"] for trial in control[0].trials]
    assert found.delta == pytest.approx(sum(trials) / 4) and found.interval95.low < found.delta < found.interval95.high


def test_a_net_of_studies_with_other_evaluations_is_one_net(reports):
    first, second = (report.results for report in reports)
    study = second.study.model_copy(update={"evaluations": second.study.evaluations[:1]})
    fewer = replace(
        second, study=study, trials=tuple(replace(each, evaluations=each.evaluations[:1]) for each in second.trials)
    )
    (control,) = (net for net in measured_nets([fewer, first]) if net.base)
    assert control.study == first.study and len(control.trials) == len(control.evaluated(0)) == 4
    assert [trial.seed for trial in control.evaluated(1)] == [1, 2, 3]


def test_every_published_row_with_an_accuracy_is_in_the_comparison(sections):
    texts = [[cell.text for cell in row] for row in table(sections, "comparison").body()]
    (darkforest,) = [row for row in texts if row[0] == "Darkforest (2016)"]
    numbers = ["12,329,756", "57.1 %", "–", "128M", "100% (300/300)", "72.6% (218/300)"]
    assert [text for number, text in enumerate(darkforest[1:9]) if number != 5] == ["CNN 12 layers", *numbers]
    twelve = [row for row in texts if row[:2] == ["GoNN", "ResNet 12 blocks"]]
    assert ["58.2 %", "54.2 %", "325-333M"] in [row[3:6] for row in twelve] and len(twelve) == 1
    accuracies = [float(row[3].split()[0]) for row in texts if row[3] != "–"]
    assert accuracies == sorted(accuracies)
    assert any("‡" in row[0] for row in texts) and any("†" in row[0] for row in texts)


def test_ours_stands_among_them_as_published_with_its_interval_and_trials(sections):
    (ours,) = [row.cells for row in table(sections, "comparison").rows if row.key.startswith("here")]
    assert re.fullmatch(r"\d+\.\d\d % \[\d+\.\d\d, \d+\.\d\d\]", ours["kgs"].text) and ours["gogod"].text == "–"
    assert len(ours["kgs"].trials) == 4 and ours["kgs"].evaluation == 1  # history dropped
    assert ours["structure"].text == "ResNet 3 blocks of 32" and ours["steps"].text == "100k, 4 seeds"
    assert any("4 of 15 training years" in note for note in table(sections, "comparison").notes)


def test_operations_of_training_are_those_of_a_sample_times_the_samples(sections):
    found = rows(table(sections, "comparison"))
    flops = {key.partition(": ")[2]: cells["flops"].value for key, cells in found.items() if cells["flops"].value}
    assert flops["Clark & Storkey (2015), CNN 8 layers, 147M"] == pytest.approx(1.40e17, rel=0.01)  # as in the rules
    assert flops["GoNN, ResNet 5 blocks, 205-209M"] == 205e6 * net_cost(registry().bases["gonn-b5"].config)[1]
    assert not any("Darkforest" in key for key in flops)  # none of the bases
    (ours,) = [key for key in found if key.startswith("here")]
    (picture,) = sections["Comparison with published results"].pictures
    assert (found[ours]["flops"].value, found[ours]["kgs"].value[0]) in [
        point[:2] for points in picture.shown.values() for point in points
    ]
    names = [point[2] for point in picture.shown["published"] if point[2].startswith("go-NN (2016) †")]
    assert sorted(names) == ["go-NN (2016) †, 10 layers, about 51M", "go-NN (2016) †, 8 layers, about 15M"]


def test_every_claim_of_every_card_is_there_once(sections):
    claims = rows(table(sections, "claims"))
    assert {"last_move_input: accuracy", "parametric_relu: slopes_turn_negative"} <= claims.keys()
    assert {cells["card"].text for cells in claims.values()} == set(registry().cards)


def test_claims_never_run_name_the_command(sections):
    ways = {key: cells["how"].text for key, cells in rows(table(sections, "claims")).items()}
    assert ways["ladder_block 1"] == "make ablation NAME=ladder_block DATA=gogod-1995"  # the claim's own games
    assert ways["ladder_only_target 1"].endswith(", then gonn probe ladder_only_target")


def test_the_study_nearest_to_a_claim_counts(tmp_path):
    found = []
    for budget in ("smoke", "cpu"):
        made = plan_study(tmp_path, "parametric_relu", budget=budget, seeds=(1, 2, 3), results=budget == "cpu")
        train(made, {})
        found.append(reported(made))
    for order in (found, found[::-1]):
        claims = claims_section(registry(), order, []).folded[0]
        assert "at 100k samples" in rows(claims)["parametric_relu: early_loss"]["ours"].text
    assert worth_showing(found) == ([found[1]], [found[0]]) and worth_showing(found[:1]) == (found[:1], [])


def gain(delta: float, flops: float, name: str = "x") -> Gain:
    page = OnPage(effect(delta, 0.01), EffectVerdict.UNDERPOWERED, None, None)
    return Gain(name, None, flops, None, page)


def test_the_front_holds_what_nothing_cheaper_beats():
    points = [gain(-0.1, 1.2), gain(-0.05, 1.0), gain(-0.04, 1.1), gain(0.2, 0.5), gain(-0.3, 1.2), gain(-0.2, 2.0)]
    sizes = [(each.flops, each.page.effect.delta) for each in points]
    slow = [a for a in sizes if a[1] < 0 and not any(b[0] <= a[0] and b[1] <= a[1] and b != a for b in sizes)]
    assert [(each.flops, each.page.effect.delta) for each in front(points, "flops")] == sorted(slow)
    assert len(slow) == 2 and front(points, "time") == []  # speeds were not measured


def test_elo_is_read_from_straight_lines_inside_the_table_alone():
    curve = [2.0, 1.5, 1.0, 0.5], [0, 500, 1000, 1700]
    margin = uncertainty(*curve)
    assert margin == pytest.approx((0.5 * (0**2 + 100**2)) ** 0.5)
    assert elo_of_nats(*curve, 1.75, Interval(1.5, 2.5)) == pytest.approx((250, -margin, 500 + margin))
    assert elo_of_nats(*curve, 2.01) is None and elo_of_nats(*curve, 0.49) is None
    with pytest.raises(ValueError, match="3 points"):
        uncertainty([1.0, 2.0], [0, 1])


def test_the_bases_have_accuracies_by_guesses_and_gaps(sections):
    guesses = table(sections, "guesses").rows[0].cells
    shares = [guesses[str(k)].value for k in (1, 2, 3, 4, 5, 10, 20, 50)]
    assert shares == sorted(shares)
    gap = table(sections, "gap").rows[0].cells
    assert gap["gap"].value == pytest.approx(gap["test"].value - gap["train"].value)
    assert gap["gap_top1"].value == pytest.approx(gap["test_top1"].value - gap["train_top1"].value)


def test_files_are_the_same_bytes_each_time_and_every_cell_has_its_trials(reports, tmp_path):
    first, second = (write_book(reports, registry(), tmp_path / name).parent for name in ("a", "b"))
    names = sorted(path.name for path in first.iterdir())
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    assert b"data:image/" in (first / "index.html").read_bytes()
    manifest = json.loads((first / "manifest.json").read_text())
    for name, found in manifest["tables"].items():
        assert f"{name}.csv" in names and f"{name}.tex" in names
        assert all(trial in manifest["trials"] for row in found.values() for trials in row.values() for trial in trials)
    assert {"comparison", "stats", "summary", "claims", "gap"} <= {
        name for name, found in manifest["tables"].items() if found
    }
    text = (first / "index.md").read_text()
    pictures = re.findall(r"\]\(([^)]*\.png)\)", text)
    assert sorted(pictures) == ["cost.png", "elo.png", "forest.png", "operations.png"]
    assert all(name in names and name.replace(".png", ".svg") in names for name in pictures)
    body = list(csv.reader(io.StringIO((first / "comparison.csv").read_text())))
    assert "where" in body[0] and all(len(row) == len(body[0]) for row in body)


def test_without_any_result_the_published_rows_are_there_and_what_an_earlier_report_left_is_removed(tmp_path):
    made, book = plan_study(tmp_path, "ko_plane", budget="cpu"), tmp_path / "book"
    book.mkdir()
    (book / "old.csv").write_text("x")
    (book / "mine.txt").write_text("x")
    text = write_book([reported(made)], registry(), book).with_name("index.md").read_text()
    assert "Darkforest" in text and "Nothing measured on KGS or GoGoD" in text and "make ablation NAME=ladder" in text
    assert not (book / "old.csv").exists() and (book / "mine.txt").exists()
