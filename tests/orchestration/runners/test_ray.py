"""The real Ray: equal weights, processes that are used again or die, and parts of it that are killed.

Every start of Ray takes seconds, so that one run shows as much as it can.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import live_holder
from gonn_core.trial.run import run_trial
from orchestration.runners import gpus, ray_runner
from orchestration.runners.gpus import Gpus
from orchestration.runners.local import LocalRunner
from orchestration.runners.ray_runner import RayRunner
from tests.orchestration.fakes import fake_job
from tests.orchestration.runners import ray_fakes
from tests.orchestration.runners.ray_processes import ray_processes
from tests.orchestration.runners.test_local import attempts
from tests.paths import ROOT
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import PATIENCE, alive, wait_until

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc"),
]
FAKES = "tests.orchestration.runners.ray_fakes"
OFTEN = {"progress_points": 16, "checkpoint_seconds": 0.05}


def configs() -> list[TrialConfig]:
    return [tiny_config(training__samples=2400, net__activation=kind) for kind in ("relu", "prelu")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Trials of `configs` that the local runner trained in one go."""
    runs = tmp_path_factory.mktemp("whole")
    LocalRunner().run([tiny_job(runs, config, **OFTEN) for config in configs()], 1, lambda event: None)
    return runs


def directory(job) -> TrialDirectory:
    return TrialDirectory(Path(job.run.runs) / job.id)


def test_trials_of_one_private_ray(tmp_path, capfd, monkeypatch, whole):
    """Fake trials that die, fail, pause or run out of memory, and real ones, one of whose processes is killed."""
    folders, make = [], tempfile.mkdtemp
    monkeypatch.setattr(
        tempfile, "mkdtemp", lambda *given, **named: folders.append(make(*given, **named)) or folders[-1]
    )
    monkeypatch.setattr(gpus, "visible_gpus", lambda: Gpus(("0",), ("NVIDIA H100",)))
    behaviours = ["", "dies once", "raises", "", "dies", "user error", "goes on until told", "short once", "too large"]
    fakes = [fake_job(tmp_path, seed, behaviour) for seed, behaviour in enumerate(behaviours)]
    fakes = [job.model_copy(update={"run": job.run.model_copy(update={"device": "auto"})}) for job in fakes]
    real = [tiny_job(tmp_path, config, **OFTEN) for config in configs()]
    events, private = [], []
    held = ray_fakes.hold(real[0])
    held.touch()

    def on_event(event):
        events.append(event)
        begun = held.exists() and directory(real[0]).checkpoint.exists()
        if begun and (holder := live_holder(directory(real[0]).path)):
            os.kill(holder.process.pid, signal.SIGKILL)
            held.unlink()
        if event.trial == real[1].id and event.kind == "point" and not private:
            private.append(who_may_connect())
        return not (event.trial == fakes[6].id and event.kind == "tick")

    def retried(job):
        return sum(event.kind == "retried" and event.trial == job.id for event in events)

    jobs = [*fakes[:7], *real, *fakes[7:]]
    outcomes = RayRunner(None, f"{FAKES}:run_either", 2).run(iter([*jobs, jobs[0]]), None, on_event)
    assert [outcome.trial for outcome in outcomes] == [job.id for job in jobs]
    of = dict(zip(behaviours, [*outcomes[:7], *outcomes[9:]], strict=False))
    assert [outcome.state for outcome in outcomes] == [
        *("done", "done", "failed", "done", "failed", "failed", "paused"),
        *("done", "done", "done", "failed"),
    ]
    assert [len(attempts(tmp_path, job)) for job in fakes[:8]] == [1, 2, 1, 1, 2, 1, 1, 2]
    assert of["raises"].error == "RuntimeError: the loss is not finite" and "in run_fake" in of["raises"].traceback
    assert of["dies"].error == "the worker process died, 2 times"
    assert (of["user error"].error, of["user error"].traceback) == ("STORE=/nowhere: no such folder", "")
    assert "with a GPU to itself" in of["too large"].error and retried(fakes[7]) == 1
    kinds = [event.kind for event in events if event.trial == fakes[1].id]
    assert kinds == ["begun", "retried", "begun", "started", "point", "point", "finished"]
    lines = [line for job in fakes for line in attempts(tmp_path, job)]
    assert len({line[0] for line in lines}) < len(lines), "processes are used again"
    assert {line[1] for line in lines} == {"1"}
    assert retried(real[0]) == 1 and directory(real[0]).config()["sessions"][1]["from_samples"] > 0
    for job in real:
        assert_same_trial(whole / job.id, tmp_path / job.id)
    addresses, with_token, without = private[0]
    assert addresses == {"127.0.0.1"} and with_token.returncode == 0, with_token.stderr
    assert without.returncode == 1 and "token" in without.stderr
    assert capfd.readouterr() == ("", "")
    assert folders and not any(map(os.path.exists, folders)) and "RAY_AUTH_TOKEN" not in os.environ
    assert not Path("~/ray_results").expanduser().exists() and not Path("~/.ray").expanduser().exists()


CLIENT = """
import sys
from ray._raylet import GcsClient
print(GcsClient(address=sys.argv[1]).internal_kv_keys(b"", None, 60))
"""


def who_may_connect() -> tuple:
    """Addresses on which the private Ray of this process listens; a client with its token and one without."""
    members = ray_processes(os.getpid())
    raylet = next(member for member in members if "raylet/raylet --raylet_socket" in member.words)
    variables = Path(f"/proc/{raylet.pid}/environ").read_text().split("\0")
    token = dict(entry.split("=", 1) for entry in variables if "=" in entry)["RAY_AUTH_TOKEN"]
    client = [sys.executable, "-c", CLIENT, re.search(r"--gcs-address=(\S+)", raylet.words).group(1)]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return (
        listening(member.pid for member in members),
        *(
            subprocess.run(client, env=plain | given, capture_output=True, text=True, timeout=PATIENCE)
            for given in ({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}, {})
        ),
    )


def listening(pids: Iterable[int]) -> set[str]:
    """Addresses on which these processes listen."""
    sockets, addresses = set(), set()
    for pid in pids:
        for file in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):  # closed meanwhile
                sockets.add(os.readlink(file))
    for table in Path("/proc/net/tcp"), Path("/proc/net/tcp6"):
        for line in table.read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets:
                words = local.split(":")[0]
                raw = b"".join(bytes.fromhex(words[i : i + 8])[::-1] for i in range(0, len(words), 8))
                address = ip_address(raw)
                addresses.add(str(getattr(address, "ipv4_mapped", None) or address))
    return addresses


FAULTS = [
    ("gcs_server --", signal.SIGSTOP),
    ("ray::DashboardAgent", signal.SIGKILL),
    ("raylet/raylet --raylet_socket", signal.SIGKILL),
]
"""Parts of Ray, and what happens to them. The GCS of a cluster is killed below."""


def test_parts_of_ray_freeze_or_die_and_the_numbers_are_those_of_an_undisturbed_run(tmp_path, monkeypatch, whole):
    """A command starts Ray twice: one ends with one line after two faults, the next finishes the trials after one. The
    first trial waits after its first checkpoint while there are faults to come."""
    jobs, faults, seen, retried = [tiny_job(tmp_path, config, **OFTEN) for config in configs()], [*FAULTS], set(), []
    ray_fakes.hold(jobs[0]).touch()

    def on_event(event):
        if event.kind == "begun":
            on_event.due = bool(faults)
        if event.kind == "retried":
            monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 300.0)  # Ray starts again
            retried.append((event.trial, event.message))
            if not faults:  # no earlier: on a busy machine the trial would end before Ray is missed
                ray_fakes.hold(jobs[0]).unlink(missing_ok=True)
        if event.kind in ("tick", "point") and on_event.due and directory(jobs[0]).checkpoint.exists():
            on_event.due = False
            monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 10.0)
            members = ray_processes(os.getpid())
            seen.update(member.pid for member in members)
            words, fault = faults.pop(0)
            os.kill(next(member.pid for member in members if words in member.words), fault)

    runner = RayRunner(function=f"{FAKES}:run_held")
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 300.0)
    with pytest.raises(UserError, match="Ray ended twice") as error:
        runner.run(jobs, 1, on_event)
    assert len(faults) == 1 and "\n" not in str(error.value)
    wait_until(lambda: directory(jobs[0]).state() == "paused")
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 300.0)
    assert [outcome.state for outcome in runner.run(jobs, 1, on_event)] == ["done", "done"]
    assert {trial for trial, _ in retried} == {jobs[0].id}, "its process may be reported dead before Ray is"
    assert any(text.startswith("Ray ended (") for _, text in retried)
    assert not [text for _, text in retried if "\n" in text]
    assert not [pid for pid in seen if Path(f"/proc/{pid}").exists()]
    assert not list(Path("/tmp").glob(f"{ray_runner.NAME}{os.getpid()}-*"))
    for job in jobs:
        assert_same_trial(whole / job.id, tmp_path / job.id)


DRIVER = """
import sys
from pathlib import Path
from gonn_core.trial.job import read_job
from orchestration.runners.ray_runner import RayRunner
if __name__ == "__main__":
    RayRunner().run([read_job(Path(sys.argv[1]))], 1, lambda event: None)
"""


def test_a_killed_driver_leaves_no_worker_and_its_trial_resumes(tmp_path, whole):
    job = tiny_job(tmp_path / "cut", configs()[0], **OFTEN)
    (tmp_path / "job.json").write_text(job.model_dump_json())
    words = [sys.executable, "-c", DRIVER, str(tmp_path / "job.json")]
    driver = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    folder = directory(job)
    wait_until(lambda: folder.checkpoint.exists() and folder.state() == "running", driver, progress=folder.metrics)
    worker = live_holder(folder.path).process.pid
    driver.kill()
    assert driver.communicate() == ("", "")
    wait_until(lambda: not alive(worker))
    assert folder.state() == "paused" and run_trial(job)["state"] == "done"
    assert_same_trial(whole / job.id, folder.path)


CLUSTER = """
import json, os, signal, sys
from pathlib import Path
from ray.cluster_utils import Cluster
from gonn_core.errors import UserError
from gonn_core.trial.job import read_job
from gonn_core.trial.directory import TrialDirectory
from orchestration.runners import ray_runner

if __name__ == "__main__":
    home, jobs = Path(sys.argv[1]), [read_job(Path(path)) for path in sys.argv[2:]]
    size = 80 * 2**20
    head = {"num_cpus": 1, "object_store_memory": size, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    second = cluster.add_node(num_cpus=1, object_store_memory=size)
    (gcs,) = cluster.head_node.all_processes["gcs_server"]
    events = []

    def on_event(event):
        lost = [trial for kind, trial in events if kind == "lost"]
        events.append((event.kind, event.trial))
        notes = (home / "notes.txt").read_text().split() if (home / "notes.txt").exists() else []
        if not lost and event.kind == "point" and second.node_id in notes:
            trial = notes[notes.index(second.node_id) - 2]
            directory = TrialDirectory(home / "runs" / trial)
            if directory.checkpoint.exists() and directory.state() == "running":
                events.append(("lost", trial))
                cluster.remove_node(second, allow_graceful=False)
        if event.trial == jobs[2].id and event.kind == "tick" and ("head", "") not in events:
            events.append(("head", ""))
            ray_runner.SILENCE_SECONDS = 10.0
            gcs.process.kill()

    def source():
        yield from jobs[:2]
        while sum(kind == "finished" for kind, _ in events) < 2:
            yield None
        yield jobs[2]

    try:
        function = "tests.orchestration.runners.ray_fakes:run_noting_where"
        ray_runner.RayRunner(cluster.address, function).run(source(), None, on_event)
    except UserError as error:
        events.append(("error", str(error).replace(cluster.address, "HEAD")))
    print(json.dumps(events), flush=True)
    os._exit(0)
"""


def test_a_node_of_a_cluster_is_lost_and_then_its_head(tmp_path, whole):
    """The node costs a checkpoint interval, and the numbers are those of an undisturbed run; the head ends the
    command with one line."""
    runs = tmp_path / "home" / "runs"
    jobs = [tiny_job(runs, config, **OFTEN) for config in [*configs(), tiny_config(training__samples=800_000)]]
    files = [tmp_path / f"{number}.json" for number in range(3)]
    for job, file in zip(jobs, files, strict=True):
        file.write_text(job.model_dump_json())
    variables = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "PYTHONPATH": str(ROOT)}
    variables |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    words = [sys.executable, "-c", CLUSTER, str(tmp_path / "home"), *map(str, files)]
    with subprocess.Popen(
        words, cwd=tmp_path, env=os.environ | variables, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        try:
            out, _ = driver.communicate(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)
    events = [tuple(event) for event in json.loads(out.splitlines()[-1])]
    (lost,) = [trial for kind, trial in events if kind == "lost"]
    assert [trial for kind, trial in events if kind == "retried"] == [lost]
    assert {trial for kind, trial in events if kind == "finished"} == {job.id for job in jobs[:2]}
    (error,) = [text for kind, text in events if kind == "error"]
    assert error.startswith("RAY_ADDRESS=HEAD: the cluster is gone (") and "\n" not in error
    notes = [line.split() for line in (tmp_path / "home" / "notes.txt").read_text().splitlines()]
    assert len(notes) == 4 and all("py_modules_files" in code for _, code, _ in notes), notes
    for job in jobs[:2]:
        assert_same_trial(whole / job.id, runs / job.id)
    sessions = directory(next(job for job in jobs if job.id == lost)).config()["sessions"]
    assert len(sessions) == 2 and sessions[1]["from_samples"] > 0
    assert not list(runs.glob(".gonn-ray-*"))
    wait_until(lambda: directory(jobs[2]).state() == "paused")
