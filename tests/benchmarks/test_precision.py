"""Two studies that differ in precision alone, with made-up results: losses and effects are compared pair by pair."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.precision import (
    BOTH,
    effects_table,
    evaluated,
    evaluated_table,
    main,
    of_both,
    read,
)
from gonn_core.errors import SettingError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, train
from tests.trial.helpers import starter_data, tiny_config, tiny_job

WITHOUT = "without-parametric_relu"
LOSS = {"control": 0.02, WITHOUT: 0.05}
"""Of bf16 less that of fp32: in both precisions a trial of an arm and seed has the same noise."""
EFFECT = 0.03
"""Loss without the enhancement less that with it, in fp32."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("precisions")
    fp32, bf16 = (
        plan_study(folder, "parametric_relu", reading={"training.precision": precision})
        for precision in ("fp32", "bf16")
    )
    train(fp32, {WITHOUT: EFFECT})
    train(bf16, {"control": LOSS["control"], WITHOUT: EFFECT + LOSS[WITHOUT]})
    return folder, fp32.study, bf16.study


@pytest.fixture(scope="module")
def results(made):
    folder, *studies = made
    return [read(Workspace(folder), study.id) for study in studies]


def values(table) -> dict:
    """Row -> column -> value."""
    return {row.key: {name: cell.value for name, cell in row.cells.items()} for row in table.rows}


def test_effects_and_their_difference(made, results):
    (row,) = values(effects_table(of_both(*results), made[1])).values()
    assert row["card"] == "parametric_relu"
    assert row["bf16"] - row["fp32"] == pytest.approx(row["delta"], abs=1e-6)
    assert row["delta"] == pytest.approx(LOSS["control"] - LOSS[WITHOUT], abs=1e-6)  # with it less without it
    low, high = row["interval"]
    assert low <= row["delta"] <= high


def test_nets_are_evaluated_in_both_precisions(tmp_path):
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    jobs = [tiny_job(tmp_path / "runs", tiny_config(training__precision=each, training__samples=16)) for each in BOTH]
    for job in jobs:
        run_trial(job)
    studies = [
        SimpleNamespace(study=SimpleNamespace(id=job.id, trials=(SimpleNamespace(trial=job.id),))) for job in jobs
    ]
    rows = values(evaluated_table(Workspace(tmp_path), studies, 100))
    (fp32, _) = (TrialDirectory(tmp_path / "runs" / job.id) for job in jobs)
    whole = evaluated(Workspace(tmp_path), fp32, 10**6)
    (summary,) = (json.loads(path.read_text()) for path in fp32.path.glob("eval/*.json"))
    assert whole["fp32"] == pytest.approx(summary["nats"])
    for row in rows.values():
        assert row["nets"] == 1 and 0 < abs(row["delta"]) < 0.05 and row["most"] == pytest.approx(row["delta"])
    (tmp_path / "runs" / jobs[0].id / "snapshots" / "16.safetensors").unlink()
    with pytest.raises(SettingError, match="no trial of it has its weights here"):
        evaluated_table(Workspace(tmp_path), studies, 100)


def test_the_command_prints_and_writes_its_tables(made, tmp_path, monkeypatch, capsys):
    folder, fp32, bf16 = made
    arguments = ["precision", fp32.id, bf16.id, "--workspace", str(folder), "--out", str(tmp_path)]
    monkeypatch.setattr("sys.argv", arguments)
    main()
    assert (tmp_path / "tables.md").read_text() == capsys.readouterr().out.rstrip("\n") + "\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["effects.csv", "loss.csv", "tables.md", "time.csv"]
