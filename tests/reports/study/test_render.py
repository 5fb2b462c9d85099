"""Reports as files: the same bytes every time, everything traceable, names from files inert."""

import csv
import difflib
import io
import json
from pathlib import Path

import pytest

from gonn_core.errors import SettingError
from gonn_core.files.json_files import read_json
from reports.results.decisions import load_results
from reports.study.render import write_report
from reports.study.tables import report_tables
from reports.tables.writers import number_text
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
    """Two cards with 3 seeds; one trial failed with an error that wants to be markup, one was taken over from another;
    title, coverage and an arm's label want to be markup, too."""
    hostile = {"title": "=1+1 | # [x](http://e.vil) `x`", "coverage": "![a](b)\n# heading", "commit": "`x`"}
    made = plan_study(tmp_path_factory.mktemp("report"), "parametric_relu", "ladder_input", seeds=(1, 2, 3), **hostile)
    arms = (made.study.arms[0].model_copy(update={"label": "=cmd(<b>)"}), *made.study.arms[1:])
    made.study.__dict__["arms"] = arms
    train(made, {"without-parametric_relu": 0.03}, skip=[("without-ladder_input", 2)])
    failed = next(trial for trial in made.study.trials if (trial.arm, trial.seed) == ("without-ladder_input", 2))
    fail_trial(made, failed, "Diverged: [red]loss[/red] | <script>alert(1)</script> \x1b[31m")
    path = made.runs / made.study.trials[0].trial / "result.json"
    path.write_text(json.dumps(read_json(path) | {"trained_as": "f" * 16}))
    return made


@pytest.fixture(scope="module")
def files(made):
    return written(made)


def test_golden_report(tmp_path):
    """After a wanted change: python -m tests.reports.study.test_render, then look at the difference."""
    made, kept = golden_report(tmp_path), GOLDEN.read_text(encoding="utf-8")
    assert same_text(made, kept), "".join(difflib.unified_diff(kept.splitlines(True), made.splitlines(True)))


def test_the_same_trials_give_the_same_bytes_over_the_files_of_before(made, files):
    first = contents(files)
    names = ("report.html", "figure.png", "figure.svg", "arms.csv", "effects.csv", "claims.csv", "metrics.csv")
    assert set(names) <= set(first)
    (files.folder / "screen.png").write_bytes(b"an old figure")
    assert contents(written(made)) == first


def test_manifest_names_trials_evaluations_and_weights_of_every_cell(made, files):
    manifest = json.loads(files.manifest.read_text())
    cell = manifest["tables"]["effects"]["parametric_relu"]["delta"]
    arms = ("control", "without-parametric_relu")
    assert cell["trials"] == [trial.trial for arm in arms for trial in made.study.trials if trial.arm == arm]
    assert len(cell["evaluations"]) == len(cell["weights"]) == 6
    for trial, evaluation, weights in zip(cell["trials"], cell["evaluations"], cell["weights"], strict=True):
        stored = json.loads((made.runs / trial / "eval" / f"{evaluation}.json").read_text())
        assert manifest["trials"][trial]["weights"] == weights == stored["weights"]
        assert (stored["split"], stored["history"]) == ("test", "full")
    for table in report_tables(files.report).printed:
        for row in table.rows:
            for key, found in row.cells.items():
                if found.trials:
                    assert manifest["tables"][table.name][row.key][key]["trials"] == list(found.trials)
    taken_over = [about.get("trained_as") for about in manifest["trials"].values()]
    assert taken_over == ["f" * 16, *[None] * 8]


def test_json_has_all_numbers_unrounded_and_csv_the_digits_that_mean_something(files):
    tree, effect = json.loads(files.data.read_text()), files.report.nats.effect("parametric_relu")
    main = next(entry for entry in tree["analyses"] if entry["metric"] == "nats" and entry["evaluation"]["number"] == 0)
    found = main["effects"]["parametric_relu"]
    assert (found["delta"], found["q"], found["verdict"]) == (effect.delta, effect.q, "helps")
    assert main["runs"] == {"all": 8, "own": 8} and main["noise"]["run"] == files.report.nats.noise.run
    assert found["interval95"] == {"low": effect.interval95.low, "high": effect.interval95.high}
    rows = list(csv.DictReader(io.StringIO((files.folder / "effects.csv").read_text())))
    assert rows[0]["delta"] == number_text(effect.delta) and rows[0]["verdict"] == "helps"
    assert [[row[name] for name in ("runs_with", "runs_without", "own_runs")] for row in rows] == [[*"336"], [*"325"]]


def test_unfinished_studies_say_so_and_text_from_files_is_inert(files):
    text, arms = files.markdown.read_text(), (files.folder / "arms.csv").read_text()
    assert "**Unfinished: 8 of 9 trials" in text and "1, 3 (2 of 3)" in text and "Diverged" in text
    assert "<script>" not in text and "\x1b" not in text and "&lt;script>" in text and "\\|" in text
    for markup in ("[x](http", "![a](b)", "\n# heading", "<b>"):
        assert markup not in text
    assert "\\[x\\](http" in text and "`x`" not in text.replace("`'x'`", "") and "'=cmd(" in arms


def test_nothing_trained_yet_is_a_report_without_figures(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    files = written(made)
    (files.folder / "figure.png").write_bytes(b"old")
    assert written(made).figures == () and "figure.png" not in contents(files)
    text = files.markdown.read_text()
    assert "no result yet" in text and "figure.png" not in text


def test_a_study_id_cannot_lead_out_of_the_folder(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    study = made.study.model_copy(update={"id": "../x"})
    with pytest.raises(SettingError, match="STUDY=../x"):
        write_report(study, load_results(study, made.runs), tmp_path / "out", made.registry)
    with pytest.raises(ValueError, match="another study"):
        write_report(study, load_results(made.study, made.runs), tmp_path / "out", made.registry)


if __name__ == "__main__":
    import tempfile

    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(golden_report(Path(tempfile.mkdtemp())), encoding="utf-8")
