"""Reports as files: the same bytes every time, everything traceable, names from files inert."""

import csv
import difflib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from gonn_core.errors import SettingError
from reports.results.decisions import load_results
from reports.study.render import write_report
from reports.study.report_tables import report_tables
from reports.study.terminal import print_report
from reports.tables.cells import Cell, Column, Row, Table, interval95
from reports.tables.serial import csv_text, number_text
from tests.paths import ROOT
from tests.reports.made_studies import fail_trial, plan_study, registry_with, train
from tests.reports.same_text import same_text

GOLDEN = ROOT / "tests" / "reports" / "golden" / "report.md"
GOLDEN_CLAIMS = {
    "loss": {"value": -0.025},
    "guess": {"range": [None, -0.01], "samples": 15_000_000, "note": "a guess"},
    "hits": {"metric": "top1", "direction": "increase", "base": None, "evidence": "unverified_memory", "value": 0.01},
    "count": {"metric": "parameters", "direction": "increase", "value": 1_744},
    "play": {"metric": "win_rate", "direction": "increase"},
}


def golden_report(folder: Path) -> str:
    """report.md of a small study, with ids that depend on numerics versions replaced by what they stand for."""
    cards = registry_with(**GOLDEN_CLAIMS)
    made = plan_study(folder, "made_up", base="gonn-b4", budget="gpu", cards_of=cards, seeds=(1, 2, 3))
    train(made, {"with-made_up": -0.027})
    text = written(made).markdown.read_text(encoding="utf-8").replace(made.study.id, "STUDY")
    for trial in made.study.trials:
        text = text.replace(trial.trial, f"TRIAL-{trial.arm}-{trial.seed}")
    return text


def written(made, out=None):
    results = load_results(made.study, made.runs, made.study_folder)
    return write_report(made.study, results, out or made.folder / "out", made.registry)


def contents(files) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(files.folder.iterdir())}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two cards with 3 seeds; one trial failed, with an error that wants to be markup."""
    made = plan_study(tmp_path_factory.mktemp("report"), "parametric_relu", "ladder_input", seeds=(1, 2, 3))
    train(made, {"without-parametric_relu": 0.03}, skip=[("without-ladder_input", 2)])
    failed = next(trial for trial in made.study.trials if (trial.arm, trial.seed) == ("without-ladder_input", 2))
    fail_trial(made, failed, "Diverged: [red]loss[/red] | <script>alert(1)</script> \x1b[31m")
    return made


@pytest.fixture(scope="module")
def files(made):
    return written(made)


def test_golden_report(tmp_path):
    """After a wanted change: python -m tests.reports.study.test_render, then look at the difference."""
    made, kept = golden_report(tmp_path), GOLDEN.read_text(encoding="utf-8")
    assert same_text(made, kept), "".join(difflib.unified_diff(kept.splitlines(True), made.splitlines(True)))


def test_the_same_trials_give_the_same_bytes(made, files, tmp_path):
    first = contents(files)
    assert contents(written(made, tmp_path)) == first
    assert contents(written(made)) == first  # over the first one, nothing is left behind
    assert {
        "report.md",
        "report.json",
        "manifest.json",
        "figure.png",
        "figure.svg",
        "arms.csv",
        "effects.csv",
        "claims.csv",
    } <= set(first)


def test_manifest_names_trials_evaluations_and_weights_of_every_cell(made, files):
    manifest = json.loads(files.manifest.read_text())
    cell = manifest["tables"]["effects"]["parametric_relu"]["delta"]
    wanted = [
        trial.trial for arm in ("control", "without-parametric_relu") for trial in made.study.trials if trial.arm == arm
    ]
    assert cell["trials"] == wanted and len(cell["evaluations"]) == len(cell["weights"]) == 6
    for trial, evaluation, weights in zip(cell["trials"], cell["evaluations"], cell["weights"], strict=True):
        about = manifest["trials"][trial]
        stored = json.loads((made.runs / trial / "eval" / f"{evaluation}.json").read_text())
        assert about["weights"] == weights == stored["weights"] and (stored["split"], stored["history"]) == (
            "test",
            "full",
        )
    for table in report_tables(files.report).printed:
        for row in table.rows:
            for key, found in row.cells.items():
                if found.trials:
                    assert manifest["tables"][table.name][row.key][key]["trials"] == list(found.trials)


def test_json_has_all_numbers_unrounded(files):
    tree = json.loads(files.data.read_text())
    effect = files.report.analyses[0, "nats"].effect("parametric_relu")
    main = next(entry for entry in tree["analyses"] if entry["metric"] == "nats" and entry["evaluation"]["number"] == 0)
    found = main["effects"]["parametric_relu"]
    assert (found["delta"], found["q"], found["verdict"]) == (effect.delta, effect.q, "helps")
    assert main["runs"] == {"all": 8, "own": 8} and main["noise"]["run"] == files.report.nats.noise.run
    assert found["interval95"] == {"low": effect.interval95.low, "high": effect.interval95.high}
    splits = {(entry["evaluation"]["split"], entry["evaluation"]["history"]) for entry in tree["analyses"]}
    assert splits == {("test", "full"), ("test", "as_published"), ("validation", "full")}


def test_csv_tables_read_back(files):
    rows = list(csv.DictReader(io.StringIO((files.folder / "effects.csv").read_text())))
    effect = files.report.analyses[0, "nats"].effect("parametric_relu")
    assert rows[0]["delta"] == number_text(effect.delta) and float(rows[0]["interval95_high"]) == pytest.approx(
        effect.interval95.high, rel=5e-6
    )
    assert [(row["runs_with"], row["runs_without"], row["own_runs"]) for row in rows] == [
        ("3", "3", "6"),
        ("3", "2", "5"),
    ]


@pytest.mark.parametrize(
    "value, text",
    [
        (0.28500000000000003, "0.285"),
        (-0.013807663841089779, "-0.0138077"),
        (616.8150306042214, "616.815"),
        (1e-3, "0.001"),
        (1.25e-9, "1.25e-09"),
        (4160.0, "4160"),
        (99999.97, "100000"),
        (999999.7, "1000000"),
        (209112000.0, "209112000"),
        (-0.0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_measured_numbers_have_six_digits_in_csv(value, text):
    assert number_text(value) == text == number_text(np.float64(value))


def test_settings_and_counts_have_all_their_digits_in_csv():
    columns = (
        Column("rate", "rate", exact=True),
        Column("range", "range", exact=True, parts=("low", "high")),
        Column("nats", "nats"),
        Column("count", "count"),
    )
    values = {
        "rate": 0.04006044338961229,
        "range": [0.0123456789, None],
        "nats": 3.6878754446805013,
        "count": 123456789,
    }
    table = Table("t", "T", columns, (Row("r", {key: Cell("", value) for key, value in values.items()}),))
    assert csv_text(table) == "rate,low,high,nats,count\n0.04006044338961229,0.0123456789,,3.68788,123456789\n"


def test_lists_have_a_named_column_for_each_of_their_numbers():
    def text(value, *parts, shown=""):
        column = Column("delta", "delta", parts=parts)
        return csv_text(Table("t", "T", (column,), (Row("r", {"delta": Cell(shown, value)}),)))

    parts = ("delta", *interval95())
    assert text([1.0, 0.5, 1.5], *parts) == "delta,interval95_low,interval95_high\n1,0.5,1.5\n"
    assert text([1.0], *parts) == text(1.0, *parts) == "delta,interval95_low,interval95_high\n1,,\n"
    assert text([0.5, 1.5], *parts) == "delta,interval95_low,interval95_high\n,0.5,1.5\n"
    assert text(None, *parts) == "delta,interval95_low,interval95_high\n,,\n"
    assert text([1, 2, 4]) == "delta\n1 2 4\n"  # seeds
    assert text([["10", "", 1.0, 4]], shown="level 10: 25 %") == "delta\nlevel 10: 25 %\n"
    assert text("–") == 'delta\n""\n'  # empty, but a row
    with pytest.raises(ValueError, match="need names"):
        text([1.0, 2.0])
    with pytest.raises(ValueError, match="3 values for low, high"):
        text([1.0, 2.0, 3.0], "low", "high")


def test_unfinished_studies_say_so_everywhere(files):
    text = files.markdown.read_text()
    assert "**Unfinished: 8 of 9 trials are done and evaluated; effects use all" in text
    assert "- ladder_input: " in text and "3 runs with it and 2 without" in text and "1, 3 (2 of 3)" in text
    assert "seed 2" in text and "Diverged" in text


def test_text_from_files_is_inert(files):
    text = files.markdown.read_text()
    assert "<script>" not in text and "\x1b" not in text and "&lt;script>" in text and "\\|" in text


def test_hostile_names_in_a_study_file(tmp_path):
    hostile = {"title": "=1+1 | # [x](http://e.vil) `x`", "coverage": "![a](b)\n# heading", "commit": "`x`"}
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,), **hostile)
    train(made, {})
    files = written(made)
    text = files.markdown.read_text()
    assert (
        "[x](http" not in text
        and "\\[x\\](http" in text
        and "![a](b)" not in text
        and "\n# heading" not in text
        and "`x`" not in text.replace("`'x'`", "")
    )


def test_csv_cells_are_no_formulas(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    arms = (made.study.arms[0].model_copy(update={"label": "=cmd()"}), *made.study.arms[1:])
    study = made.study.model_copy(update={"arms": arms})
    files = write_report(study, load_results(study, made.runs), tmp_path / "out", made.registry)
    assert "'=cmd()" in (files.folder / "arms.csv").read_text()


def test_nothing_trained_yet_is_a_report_too(tmp_path):
    made = plan_study(tmp_path, "parametric_relu")
    files = written(made)
    assert files.figures == () and "no result yet" in files.markdown.read_text()
    assert "figure.png" not in files.markdown.read_text()


def test_an_old_figure_does_not_stay(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    files = written(made)
    (files.folder / "figure.png").write_bytes(b"old")
    assert "figure.png" not in contents(written(made))


def test_a_study_id_cannot_lead_out_of_the_folder(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    study = made.study.model_copy(update={"id": "../x"})
    with pytest.raises(SettingError, match="STUDY=../x: not a name of a folder"):
        write_report(study, load_results(study, made.runs), tmp_path / "out", made.registry)
    with pytest.raises(ValueError, match="another study"):
        write_report(study, load_results(made.study, made.runs), tmp_path / "out", made.registry)


# Terminal


def printed(report, width=100, terminal=False) -> str:
    buffer = io.StringIO()
    print_report(report, Console(file=buffer, width=width, force_terminal=terminal))
    return buffer.getvalue()


def test_terminal_fits_a_hundred_columns_and_is_plain_when_piped(files):
    text = printed(files.report)
    assert max(map(len, text.splitlines())) <= 100 and "\x1b" not in text
    for word in ("parametric_relu", "helps", "2 of 3", "FLOPs", "count agrees", "not tested here", "failed: Diverged"):
        assert word in text
    assert "[red]loss[/red]" in text  # shown as it is, not obeyed


def test_terminal_colours_verdicts_only(files):
    text = printed(files.report, terminal=True)
    assert "\x1b[32mhelps" in text and "\x1b[31m" not in text.split("Unfinished")[1]


if __name__ == "__main__":
    import tempfile

    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(golden_report(Path(tempfile.mkdtemp())), encoding="utf-8")
