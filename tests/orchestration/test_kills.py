"""What is killed with SIGKILL in the middle of its work ends with the weights and the evaluation files of an
undisturbed run. Here: what is compared with one whole study of two trials.

    killed                        test
    a trial alone, three times    trial/test_kill.py: test_kill_at_random_moments
    a trial that others wait for  trial/test_kill.py: test_the_one_who_waits_goes_on_when_the_first_is_killed
    worker, local runner          orchestration/study/test_studies.py: test_kill_9_of_a_trial_and_of_the_command
    worker, Ray                   orchestration/runners/test_ray.py: test_trials_of_one_private_ray
    driver of Ray                 orchestration/runners/test_ray.py: test_a_killed_driver_leaves_no_worker_…
    driver of a whole study       orchestration/study/test_studies.py: test_kill_9_of_a_trial_and_of_the_command
    driver of a search            orchestration/search/test_whole_searches.py:
                                  test_real_trials_are_searched_through_a_kill
    raylet, head, agent of Ray    orchestration/runners/test_ray.py: test_parts_of_ray_freeze_or_die_…
    node and head of a cluster    orchestration/runners/test_ray.py: test_a_node_of_a_cluster_is_lost_and_then_its_head
    gonn ui                       orchestration/tracking/test_ui.py: test_the_server_answers_at_the_study_and_ends_…
    tracking server               here: test_the_tracking_server_is_killed_during_a_study

Signals that ask a command to end: orchestration/cli/test_signals.py, and here. Everything at random moments, for as
long as one likes: `python -m scripts.torture`.

A tracking server that hangs, comes back, or was never there: orchestration/tracking/test_server.py.
"""

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from orchestration.runners.ray_runner import NAME
from tests.orchestration.cli.test_signals import LINE
from tests.orchestration.commands import STUDY, gonn, start, workspace
from tests.orchestration.servers import Server, running
from tests.orchestration.workspace_files import known
from tests.trial.helpers import assert_same_trial
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system
TIMES = ("samples_per_s", "seconds")  # ends of the names of metrics that no two runs have in common


def records(uri: str) -> dict[tuple[str, str], object]:
    """What MLflow holds of the only study there, but for times: (run, what) -> status, params, verdicts, histories of
    metrics, artifacts."""
    from mlflow import MlflowClient

    client, found = MlflowClient(uri), {}
    (experiment,) = [each for each in client.search_experiments() if each.name != "Default"]
    runs = client.search_runs([experiment.experiment_id])
    assert len({run.info.run_name for run in runs}) == len(runs), "a run that is there twice"
    for run in runs:
        values = {f"param {name}": value for name, value in run.data.params.items() if name != "created"}
        values |= {
            f"tag {name}": value
            for name, value in run.data.tags.items()
            if name.startswith(("verdict", "weights", "arm", "seed", "control"))
        }
        for name in run.data.metrics:
            if not name.endswith(TIMES):
                values[f"metric {name}"] = [
                    (point.step, point.value) for point in client.get_metric_history(run.info.run_id, name)
                ]
        values |= {
            "status": run.info.status,
            "artifacts": sorted(file.path for file in client.list_artifacts(run.info.run_id)),
        }
        found |= {(run.info.run_name, name): value for name, value in values.items()}
    return found


def test_the_tracking_server_is_killed_during_a_study(undisturbed, tmp_path):
    """The study continues; `gonn sync` completes the records once the server is there again."""
    home = workspace(tmp_path)
    with running(Server(tmp_path)) as server:
        address = {"MLFLOW_TRACKING_URI": f"http://user:secret@127.0.0.1:{server.port}"}
        study = start(home, *STUDY, **address)
        wait_until(lambda: _has_metrics(tmp_path / "server.db"), study)
        server.kill()
        out, err = study.communicate(timeout=PATIENCE)
        assert study.returncode == 0 and "2/2 trials done" in out, out + err
        (line,) = [line for line in err.splitlines() if line.startswith("MLflow: ")]
        assert line.startswith(f"MLflow: cannot use http://***@127.0.0.1:{server.port} (") and line.endswith(
            "`gonn sync` completes the records"
        )
        assert "secret" not in out + err
        trials = sorted(folder.name for folder in (home / "runs").iterdir())
        assert trials == sorted(folder.name for folder in (undisturbed / "runs").iterdir()) and len(trials) == 2
        for trial in trials:
            assert_same_trial(undisturbed / "runs" / trial, home / "runs" / trial)
        server.start()
        code, out, err = gonn(home, "sync", **address)
        assert (code, out) == (0, f"1 studies written to http://***@127.0.0.1:{server.port}\n"), err
        found = records(f"http://127.0.0.1:{server.port}")
    assert [status for (_, name), status in found.items() if name == "status"] == ["FINISHED"] * 5
    expected = records(f"sqlite:///{undisturbed / 'mlflow.db'}")
    assert {
        key: (found.get(key), expected.get(key)) for key in {*found, *expected} if found.get(key) != expected.get(key)
    } == {}


def _has_metrics(database: Path) -> bool:
    """Whether the server has a trial's nats. Asked of its database: the requests of `records` may outlast the study."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=PATIENCE)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM metrics WHERE key = 'validation_nats'").fetchone()
    return count > 0


def test_every_file_that_a_study_leaves_is_of_a_kind_that_the_page_knows(undisturbed):
    paths = [*undisturbed.rglob("*"), *(undisturbed / "speeds").iterdir()]
    files = [path.relative_to(undisturbed).as_posix() for path in paths if path.is_file()]
    assert len(files) > 20 and [name for name in files if not known(name)] == []


def test_a_study_resumes_after_a_signal_to_the_numbers_of_an_undisturbed_one(undisturbed, tmp_path):
    home = workspace(tmp_path)
    study = start(home, *STUDY[:-1], "ray", "--no-track")
    wait_until(lambda: list(home.glob("runs/*/metrics.jsonl")), study)
    study.send_signal(signal.SIGTERM)
    out, err = study.communicate(timeout=PATIENCE)
    assert study.returncode == 143 and err.splitlines()[-1] == LINE, out + err
    assert "***" not in err and "Traceback" not in err
    assert not list(Path("/tmp").glob(f"{NAME}{study.pid}-*"))
    code, out, err = gonn(home, *STUDY, "--no-track")  # the local runner: where trials run makes no difference
    assert code == 0, out + err
    trials = sorted(folder.name for folder in (home / "runs").iterdir())
    assert trials == sorted(folder.name for folder in (undisturbed / "runs").iterdir()) and len(trials) == 2
    for trial in trials:
        assert_same_trial(undisturbed / "runs" / trial, home / "runs" / trial)
