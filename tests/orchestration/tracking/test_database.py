"""A data base of MLflow that was left half-made is made again, and one that holds anything never is."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from orchestration.tracking import database, writer
from orchestration.tracking.database import half_made, make_whole
from orchestration.tracking.tracker import Tracker
from tests.orchestration.fakes import write_trial
from tests.orchestration.tracking.test_tracker import REPORT, runs_of, study
from tests.paths import ROOT
from tests.waiting import PATIENCE, wait_until

HEAD = "f00d"
WHOLE = (
    "create table alembic_version (version_num text)",
    f"insert into alembic_version values ('{HEAD}')",
    "create table experiments (experiment_id integer, name text)",
    "insert into experiments values (0, 'Default')",
    "create table runs (run_uuid text)",
)


def script(path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as records:
        for statement in statements:
            records.execute(statement)
        records.commit()


def made(path) -> None:
    script(path, *WHOLE)


@pytest.mark.parametrize(
    "left",
    [
        (),
        ("create table datasets (id text)",),
        (*WHOLE, "create table _alembic_tmp_runs (run_uuid text)"),
        (*WHOLE, "create table _alembic_tmp_experiments (name text)"),
        (*WHOLE, "delete from alembic_version"),
        (*WHOLE, "update alembic_version set version_num = 'an earlier one'"),
    ],
    ids=["empty", "no version", "runs copied", "experiments copied", "version lost", "on the way"],
)
def test_a_half_made_data_base_is_made_again(tmp_path, left):
    path = tmp_path / "mlflow.db"
    path.touch()
    script(path, *left)
    expected = "no Default" if left and left[-1].startswith("create table experiments") else None
    assert half_made(path, lambda: HEAD) is (
        expected is None
    )  # the last is whole: MLflow makes `Default` when it opens it
    make_whole(path, made, lambda: HEAD)
    assert not half_made(path, lambda: HEAD)
    assert [file.name for file in tmp_path.iterdir()] == ["mlflow.db"]


@pytest.mark.parametrize(
    "held",
    [
        "insert into runs values ('a run')",
        "insert into experiments values (1, 'of somebody else')",
        "update experiments set name = 'renamed'",
        "create table registered_models as select 'a model' as name",
    ],
)
@pytest.mark.parametrize("broken", ["delete from alembic_version", "create table _alembic_tmp_runs (run_uuid text)"])
def test_one_that_holds_anything_is_never_touched(tmp_path, held, broken):
    path = tmp_path / "mlflow.db"
    script(path, *WHOLE, held, broken)
    before = path.read_bytes()
    make_whole(path, lambda path: pytest.fail("made again"), lambda: HEAD)
    assert path.read_bytes() == before


def test_what_is_no_data_base_is_left_to_whoever_put_it_there(tmp_path):
    path = tmp_path / "mlflow.db"
    path.write_bytes(b"no data base" * 1000)
    make_whole(path, lambda path: pytest.fail("made again"), lambda: HEAD)
    assert path.read_bytes() == b"no data base" * 1000


def test_one_that_could_not_be_made_leaves_nothing_under_its_name(tmp_path):
    path = tmp_path / "mlflow.db"

    def half(path):
        script(path, "create table datasets (id text)")
        raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        make_whole(path, half, lambda: HEAD)
    assert not list(tmp_path.iterdir())
    with pytest.raises(sqlite3.DatabaseError, match="did not make its tables"):
        make_whole(path, lambda path: script(path, "create table datasets (id text)"), lambda: HEAD)
    assert not path.exists()
    make_whole(path, made, lambda: HEAD)
    assert [file.name for file in tmp_path.iterdir()] == ["mlflow.db"]


@pytest.mark.parametrize("left", ["create table datasets (id text)", "create table _alembic_tmp_runs (id text)"])
def test_sync_completes_the_records_of_a_workspace_whose_data_base_was_left_half_made(
    tmp_path,
    monkeypatch,
    template,
    left,
):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(writer, "make_tables", lambda path: path.write_bytes(template.read_bytes()))
    script(tmp_path / database.NAME, left)
    write_trial(tmp_path / "runs" / "c0", "done")
    assert Tracker(tmp_path, tmp_path / "runs", pytest.fail).sync([(study(("c0",)), REPORT)])
    assert runs_of(tmp_path)["s0 control"].info.status == "FINISHED"


def tables(path) -> int:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as records:
            return records.execute("select count(*) from sqlite_master where type = 'table'").fetchone()[0]
    except sqlite3.Error:
        return 0


@pytest.mark.system
def test_a_command_that_is_killed_while_it_makes_a_data_base_leaves_none(tmp_path):
    """At several moments, one after the other in the same workspace."""
    write_trial(tmp_path / "runs" / "c0", "done")
    code = f"""
from pathlib import Path
from tests.orchestration.tracking.test_tracker import study, REPORT
from orchestration.tracking.tracker import Tracker
root = Path({str(tmp_path)!r})
raise SystemExit(not Tracker(root, root / "runs", print).sync([(study(("c0",)), REPORT)]))
"""
    making = tmp_path / f"{database.NAME}.making"
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    for least in (1, 20):
        making.unlink(missing_ok=True)
        sync = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        wait_until(lambda least=least: tables(making) >= least or (tmp_path / database.NAME).exists(), sync, pause=0.01)
        sync.send_signal(signal.SIGKILL)
        sync.communicate()
        assert not half_made(tmp_path / database.NAME, writer.newest_schema)
    last = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, timeout=PATIENCE
    )
    assert last.returncode == 0, last
    assert runs_of(tmp_path, study(("c0",)))["s0 control"].info.status == "FINISHED"
    assert not list(tmp_path.glob("*.making*"))
