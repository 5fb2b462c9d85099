"""Whoever is killed with SIGKILL in the middle of its work: it ends with the weights and the evaluation files of an
undisturbed run.

    killed                        test
    a trial alone, three times    trial/test_kill.py: test_kill_at_random_moments
    a trial that others wait for  trial/test_kill.py: test_the_one_who_waits_goes_on_when_the_first_is_killed
    worker, local runner          orchestration/runners/test_ray_tune.py: test_a_killed_worker_is_replaced_…;
                                  orchestration/study/test_studies.py: test_kill_9_…
    worker, Ray                   here: test_a_worker_of_ray_is_killed
    driver, either runner         orchestration/runners/test_ray_tune.py: test_a_killed_driver_leaves_no_worker_…
    driver of a whole study       orchestration/study/test_studies.py: test_kill_9_of_a_trial_and_of_the_command
    driver of a search            orchestration/search/test_whole_searches.py:
                                  test_real_trials_are_searched_through_a_kill
    node of a cluster             orchestration/runners/test_address.py: test_a_lost_node_costs_a_checkpoint_interval_…
    Ray's raylet, Ray's head      orchestration/runners/test_ray_runner.py: test_ray_loses_its_raylet_and_then_…
    head of a cluster             orchestration/runners/test_ray_runner.py: test_the_head_of_a_cluster_is_killed
    gonn ui                       orchestration/tracking/test_ui.py: test_the_server_answers_at_the_study_and_ends_…
    tracking server               here: test_the_tracking_server_is_killed_during_a_study, on SQLite and on PostgreSQL

Signals that ask a command to end: orchestration/cli/test_signals.py. Everything at random moments, for as long as one
likes: `python -m scripts.torture`.

A tracking server that hangs, comes back, or was never there: orchestration/tracking/test_server.py.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import live_holder
from gonn_core.trial.run import run_trial
from orchestration.runners.ray_runner import RayRunner
from tests.orchestration.commands import STUDY, gonn, start, workspace
from tests.orchestration.postgres import lacking, postgres_store
from tests.orchestration.servers import Server, running
from tests.paths import ROOT
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system
TIMES = ("samples_per_s", "seconds")
"""Ends of the names of metrics that no two runs have in common."""


@pytest.mark.xdist_group("ray")
def test_a_worker_of_ray_is_killed(tmp_path):
    config = tiny_config(training__samples=4000)
    whole, cut = (
        tiny_job(tmp_path / "whole", config, progress_points=16),
        tiny_job(tmp_path / "cut", config, progress_points=16, checkpoint_seconds=0.05),
    )
    run_trial(whole)
    folder, told = TrialDirectory(tmp_path / "cut" / cut.id), []

    def on_event(event):
        if (
            event.kind == "point"
            and "retried" not in told
            and folder.checkpoint.exists()
            and (holder := live_holder(folder.path))
        ):
            os.kill(holder.process.pid, signal.SIGKILL)
        told.append(event.kind)

    (outcome,) = RayRunner().run([cut], 1, on_event)
    assert outcome.state == "done" and told.count("retried") == 1
    sessions = folder.config()["sessions"]
    assert len(sessions) == 2 and sessions[1]["from_samples"] > 0
    assert_same_trial(tmp_path / "whole" / whole.id, folder.path)


DRIVER = """
import sys
from pathlib import Path
from gonn_core.trial.job import read_job
from orchestration.runners.choose import make_runner
if __name__ == "__main__":
    outcomes = make_runner(sys.argv[1]).run([read_job(Path(path)) for path in sys.argv[2:]], 1, lambda event: None)
    print(*[outcome.state for outcome in outcomes])
"""


@pytest.mark.xdist_group("ray")
def test_four_commands_at_once_train_nothing_twice(tmp_path):
    """Two alike, and two that want some of the same trials in other orders, one of them under Ray."""
    configs = [tiny_config(training__init_seed=seed) for seed in range(4)]
    whole = [tiny_job(tmp_path / "whole", config) for config in configs]
    files = []
    for number, config in enumerate(configs):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(tiny_job(tmp_path / "runs", config).model_dump_json())
    wanted = [("local", (0, 1, 2)), ("local", (0, 1, 2)), ("local", (3, 2, 1)), ("ray", (1, 3, 0))]
    drivers = [
        subprocess.Popen(
            [sys.executable, "-c", DRIVER, runner, *(str(files[number]) for number in numbers)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for runner, numbers in wanted
    ]
    for driver in drivers:
        assert driver.communicate(timeout=PATIENCE) == ("done done done\n", "")
    for job in whole:
        run_trial(job)
        assert len(TrialDirectory(tmp_path / "runs" / job.id).config()["sessions"]) == 1
        assert_same_trial(tmp_path / "whole" / job.id, tmp_path / "runs" / job.id)


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


@pytest.mark.xdist_group("server")
@pytest.mark.parametrize(
    "store",
    [
        "sqlite",
        pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.skipif(bool(lacking()), reason=lacking())]),
    ],
)
def test_the_tracking_server_is_killed_during_a_study(undisturbed, tmp_path, store):
    """Over HTTP; the study goes on, `gonn sync` completes the records once the server is there again, and they are
    those of any other store."""
    home = workspace(tmp_path)
    with (
        postgres_store() if store == "postgresql" else _sqlite(tmp_path) as uri,
        running(Server(tmp_path, uri)) as server,
    ):
        address = {"MLFLOW_TRACKING_URI": f"http://user:secret@127.0.0.1:{server.port}"}
        study = start(home, *STUDY, **address)
        wait_until(lambda: any(name == "metric validation_nats" for _, name in _seen(server)), study)
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


def _sqlite(folder: Path):
    from contextlib import nullcontext

    return nullcontext(f"sqlite:///{folder / 'server.db'}")


def _seen(server: Server) -> dict:
    try:
        return records(f"http://127.0.0.1:{server.port}")
    except ValueError:  # no study yet
        return {}
