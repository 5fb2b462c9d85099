"""The documents' tables: every published row is shown in its own words and digits, beside it ours, or plainly none."""

import math
from dataclasses import replace

import pytest

from ablations.published_results import Published
from gonn_core.config import parse_model
from gonn_core.errors import SettingError
from reports.book.book import book_page
from reports.book.published import NOT_HERE, comparable
from reports.results.decisions import load_results
from reports.results.nets import level, measured_nets
from reports.study.report import make_report
from reports.tables.cells import Cell, Table
from reports.tables.writers import csv_text
from tests.reports.made_studies import plan_study, registry, train

STUDIES = (
    ("gonn-b5", ("last_move_input",)),
    ("clark-medium", ("reflection_preserving", "liberty_encoding")),
    ("cazenave-7x128", ("golois_block", "three_output_planes")),
    ("go-nn", ("elu",)),
    ("lczero-s", ("additive_gate",)),
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A study of each system."""
    made = []
    for base, cards in STUDIES:
        study = plan_study(tmp_path_factory.mktemp(base), *cards, base=base, budget="cpu", seeds=(1, 2, 3))
        train(study, {})
        made.append(make_report(load_results(study.study, study.runs, study.study_folder), study.registry))
    return made


@pytest.fixture(scope="module")
def tables(reports):
    return tables_of(reports)


@pytest.fixture(scope="module")
def bare():
    """Of a report over nothing."""
    return tables_of([])


def tables_of(reports) -> dict[str, Table]:
    return {table.name: table for table in book_page(reports, [], registry()).tables}


def texts_of(tables) -> list[list[str]]:
    """The texts of each row of each table, as CSV has them."""
    return [[cell.text for cell in cells] for table in tables.values() for cells in table.body()]


def rows(table: Table, **wanted: str) -> list[dict[str, Cell]]:
    """Cells of the rows whose cells begin with these texts."""
    found = [row.cells for row in table.rows]
    return [cells for cells in found if all(cells[key].text.startswith(text) for key, text in wanted.items())]


def facts(row) -> list[str]:
    """What a published row of a net says, each as it is to be read somewhere."""
    said = [row.printed.get("parameters") or (f"{row.parameters:,}" if row.parameters else None), row.excluded]
    said += [f"{100 * share:.1f} %" for share in (row.top4,) if share]
    if row.top1:
        digits = 2 if row.rank or row.excluded else 1
        said.append(f"{100 * row.top1:.{digits}f} %")
    said += [f"{row.nats:.3f}", f"{math.exp(row.nats):.3f}"] if row.nats else []
    said += [f"{row.rank:.2f}", f"{row.probability:.4f}"] if row.rank else []
    said += [row.printed.get("steps"), row.steps if row.nats or not row.printed else None, row.gnugo, row.pachi]
    return [each for each in (*said, row.note) if each]


def lacking(shown: list[list[str]], whose: list[str], said: list[str]) -> list[str]:
    """Of these facts the ones that no row about the same thing has."""
    about = [row for row in shown if all(any(text in cell for cell in row) for text in whose)]
    assert about, whose
    return [fact for fact in said if not any(fact in cell for row in about for cell in row)]


@pytest.mark.parametrize("measured", [False, True])
def test_every_published_row_is_shown(measured, tables, bare):
    """Each in some table, word for word and digit for digit, whether or not anything was measured here."""
    shown, count = texts_of(tables if measured else bare), 0
    for published in registry().published.values():
        for row in published.rows:
            whose = [row.excluded] if row.excluded else [row.source, row.structure]
            assert lacking(shown, whose, facts(row)) == []
        for games in published.games:
            said = [games.source, games.opponent, games.rules, games.settings, games.result, games.words, games.note]
            assert lacking(shown, [games.net, games.source, games.opponent], [each for each in said if each]) == []
        for curve in published.curves:
            width = f"{curve.layers} layers" + (f" of {curve.width} planes" if curve.width else "")
            said = [
                curve.net,
                width,
                str(curve.output_planes),
                curve.measure,
                str(curve.place or "–"),
                curve.note or "",
            ]
            assert lacking(shown, [curve.figure, curve.words], said) == []
        for gain in published.gains:
            said = [each for each in (gain.cost, gain.net, gain.note) if each]
            assert lacking(shown, [gain.change, gain.gain], said) == []
        for point in published.correspondence:
            elo = f"{'~' if point.elo else ''}{point.elo:.0f}"
            assert [f"{100 * point.top1:.0f} %", f"{point.nats:.2f}", f"{math.exp(point.nats):.1f}", elo] in shown
        parts = (published.rows, published.games, published.curves, published.gains, published.correspondence)
        count += sum(map(len, parts))
    assert count > 100


def test_a_report_over_nothing_says_so_of_every_row(bare):
    places = {
        "ablation-clark_storkey": "ours",
        "figures-cazenave": "ours",
        "gains-lczero": "ours",
        "gains-go_nn": "ours",
    }
    for name, column in places.items():
        assert all(row.cells[column].text.startswith(NOT_HERE) for row in bare[name].rows), name
    assert all("here" in row.cells["here"].text for row in bare["games-clark_storkey"].rows)
    assert any(NOT_HERE in note for note in bare["nets-go_nn"].notes)


def test_the_ablation_study_has_ours_beside_the_published(reports, tables):
    table = tables["ablation-clark_storkey"]
    words = [row.cells["excluded"].text.removesuffix(" ‡") for row in table.rows]
    assert words == ["None", "Ko constraints", "Edge encoding", "Masked training", "Liberties encoding"] + [
        "Reflection preserving",
        "All but liberties",
        "All",
    ]
    nets = {net.name: net for net in measured_nets([report.results for report in reports])}
    for excluded, name in (
        ("None", "clark-medium"),
        ("Reflection", "clark-medium without reflection_preserving"),
        ("Liberties", "clark-medium without liberty_encoding"),
    ):
        (cells,) = rows(table, excluded=excluded)
        for metric in ("top1", "rank", "probability"):
            found = level(nets[name], 0, metric)
            own = cells[f"{metric}_ours"]
            assert own.value == [found.delta, found.interval95.low, found.interval95.high]
            assert set(own.trials) == {trial.id for trial in nets[name].trials} and own.evaluation == 0
        assert cells["ours"].text == f"{name} (cpu, kgs, 100k, 3 seeds)"
    (ko,) = rows(table, excluded="Ko")
    assert ko["ours"].text == f"{NOT_HERE}: make ablation NAME=clark_ko_plane" and ko["rank_ours"].text == "–"
    assert "36.55 %,,,,7.59" not in csv_text(table) and "0.3655" in csv_text(table)


def test_each_net_is_read_as_its_document_tests(reports):
    """GoNN's test rows have lost some of their history; the others' have all that the net sees."""
    nets = {net.study.base: net for net in measured_nets([report.results for report in reports]) if net.base}
    histories = {base: net.study.evaluations[comparable(registry(), net)].history for base, net in nets.items()}
    assert histories == {base: "as_published" if base == "gonn-b5" else "full" for base, _ in STUDIES}
    gonn = nets["gonn-b5"]
    trials = tuple(replace(t, evaluations=(t.evaluations[0], None, t.evaluations[2])) for t in gonn.trials)
    assert comparable(registry(), replace(gonn, trials=trials)) == 0  # that one was not made


def test_what_the_document_as_stored_does_not_state_is_marked_and_explained(bare):
    assert all(rows(bare[name], source="GoNN (Apr 2018)") for name in ("comparison", "stats"))
    assert any("† from its code or another version of it" in note for note in bare["comparison"].notes)
    drafts = [cells for cells in rows(bare["comparison"], source="GoNN †") if cells["steps"].text == "65M"]
    assert len(drafts) == 2
    (february,) = rows(bare["comparison"], source="GoNN (Feb 2018) †")
    assert (february["gnugo"].text, february["gogod"].text) == ("98-99%", "51.9 %")
    assert "GoGoD from 1995" in february["structure"].text
    assert any("~ about, as printed" in note for note in bare["comparison"].notes)


GAIN = {"change": "c", "gain": "g", "evidence": "stated"}
GAMES = {"source": "s", "net": "n", "opponent": "o", "evidence": "stated"}


@pytest.mark.parametrize(
    "tree, problem",
    [
        ({"gains": [{**GAIN, "cards": ["no_such"]}]}, "no such card"),
        ({"games": [{**GAMES, "result": "1", "base": "none-such"}]}, "no such base"),
    ],
)
def test_what_stands_beside_a_published_row_must_be_declared(tree, problem):
    published = parse_model(Published, {"id": "x", "document": "gonn_sandbox", "section": "s", **tree}, "x.yaml")
    with pytest.raises(SettingError, match=problem):
        replace(registry(), published={"x": published}).check()
