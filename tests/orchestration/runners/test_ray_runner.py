"""What a command does when Ray does not start, dies or falls silent: with `ray_fakes`, and with processes of a real Ray
killed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

from gonn_core.errors import UserError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from orchestration.runners import ray_runner
from orchestration.runners.ray_runner import RayRunner
from tests.orchestration.fakes import fake_job
from tests.orchestration.runners import ray_fakes
from tests.orchestration.runners.ray_processes import ray_processes
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import PATIENCE, wait_until


@pytest.fixture
def fake_ray(monkeypatch, tmp_path):
    """`RayRunner`, its Ray a fake one in a folder of its own."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(ray_runner, "serve", ray_fakes.serve)
    monkeypatch.setattr(ray_runner, "TMP", scratch)
    yield RayRunner
    assert list(scratch.iterdir()) == []


def run(runner, folder: Path):
    events = []
    outcomes = runner.run([fake_job(folder, seed) for seed in range(2)], 1, events.append)
    return outcomes, [(event.kind, getattr(event, "message", "")) for event in events]


def starts(folder: Path) -> list[str]:
    return (folder / "starts").read_text().split()


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [("dies once", "its process was killed by SIGABRT"), ("falls silent once", "no answer for 1 seconds")],
)
def test_a_ray_that_dies_is_started_once_more_and_its_trial_resumes(fake_ray, tmp_path, monkeypatch, behaviour, why):
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 1.0)
    outcomes, events = run(fake_ray(function=behaviour), tmp_path)
    assert [outcome.state for outcome in outcomes] == ["done", "done"] and len(starts(tmp_path)) == 2
    assert events == [
        ("begun", ""),
        ("retried", f"Ray ended ({why}); it is started again"),
        *[("begun", ""), ("finished", "")] * 2,
    ]


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("dies", "its process was killed by SIGABRT"),
        ("does not start", "Exception: The current node timed out during startup"),
    ],
)
def test_a_ray_that_dies_twice_ends_the_command_with_one_line(fake_ray, tmp_path, behaviour, why):
    with pytest.raises(UserError) as error:
        run(fake_ray(function=behaviour), tmp_path)
    assert why in str(error.value) and "\n" not in str(error.value)
    assert len(starts(tmp_path)) == 2


def test_a_ray_that_does_not_start_is_started_once_more(fake_ray, tmp_path):
    outcomes, events = run(fake_ray(function="starts late"), tmp_path)
    assert [outcome.state for outcome in outcomes] == ["done", "done"] and len(starts(tmp_path)) == 2
    assert events == [("begun", ""), ("finished", "")] * 2


def test_a_cluster_that_falls_silent_ends_the_command_with_one_line(fake_ray, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 1.0)
    with pytest.raises(UserError, match=r"RAY_ADDRESS=10.0.0.1:6379: the cluster is gone \(no answer for 1 seconds"):
        run(fake_ray("10.0.0.1:6379", "falls silent"), tmp_path)
    with pytest.raises(UserError, match="no Ray cluster there"):
        run(fake_ray("10.0.0.1:6379", "refuses"), tmp_path)
    assert not list(tmp_path.glob(".gonn-ray-*"))


SAMPLES = 8000


@pytest.mark.system
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc")
@pytest.mark.parametrize("victim", ["raylet/raylet --raylet_socket", "gcs_server --", "ray::DashboardAgent"])
def test_a_part_of_ray_is_killed_and_the_numbers_are_those_of_an_undisturbed_run(tmp_path, monkeypatch, victim):
    """The first of two trials waits after its first checkpoint until Ray was started again."""
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 15.0)
    configs = [tiny_config(training__samples=SAMPLES, training__init_seed=seed) for seed in (1, 2)]
    whole = [tiny_job(tmp_path / "whole", config, progress_points=32) for config in configs]
    jobs = [tiny_job(tmp_path / "cut", config, progress_points=32, checkpoint_seconds=0.1) for config in configs]
    (tmp_path / "cut").mkdir()
    hold = ray_fakes.hold(jobs[0])
    hold.touch()
    reasons, seen = [], set()

    def on_event(event):
        if event.kind == "retried":
            reasons.append((event.trial, event.message))
            hold.unlink()
        if event.kind == "point" and not seen and TrialDirectory(tmp_path / "cut" / event.trial).checkpoint.exists():
            alive = ray_processes(os.getpid())
            seen.update(member.pid for member in alive)
            os.kill(next(member.pid for member in alive if victim in member.words), signal.SIGKILL)

    outcomes = RayRunner(function=ray_fakes.RUN_HELD).run(jobs, 1, on_event)
    assert [outcome.state for outcome in outcomes] == ["done", "done"]
    ((trial, message),) = reasons
    assert trial == jobs[0].id and re.fullmatch(r"Ray ended \(.+\); it is started again", message)
    assert not [pid for pid in seen if Path(f"/proc/{pid}").exists()]
    assert not list(Path("/tmp").glob(f"{ray_runner.NAME}{os.getpid()}-*"))
    for job in whole:
        run_trial(job)
        assert_same_trial(tmp_path / "whole" / job.id, tmp_path / "cut" / job.id)


@pytest.mark.system
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc")
def test_ray_is_frozen_and_then_killed_and_the_command_ends_with_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 10.0)
    job = tiny_job(tmp_path / "runs", tiny_config(training__samples=800_000), checkpoint_seconds=0.1)
    faults = [("gcs_server --", signal.SIGSTOP), ("raylet/raylet --raylet_socket", signal.SIGKILL)]

    def on_event(event):
        if event.kind == "begun":
            on_event.due = True
        if event.kind == "tick" and on_event.due:
            on_event.due = False
            words, fault = faults.pop(0)
            os.kill(next(member.pid for member in ray_processes(os.getpid()) if words in member.words), fault)

    with pytest.raises(UserError, match="Ray ended twice"):
        RayRunner().run([job], 1, on_event)
    assert not faults and not list(Path("/tmp").glob(f"{ray_runner.NAME}{os.getpid()}-*"))
    wait_until(lambda: TrialDirectory(tmp_path / "runs" / job.id).state() == "paused")


def listening(pids: Iterable[int]) -> set[str]:
    """Addresses on which these processes listen."""
    sockets, found = set(), set()
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
                found.add(str(getattr(address, "ipv4_mapped", None) or address))
    return found


CLIENT = """
import sys
from ray._raylet import GcsClient
print(GcsClient(address=sys.argv[1]).internal_kv_keys(b"", None, 60))
"""


@pytest.mark.system
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes under /proc")
def test_a_private_ray_listens_to_this_machine_alone_and_answers_who_has_its_token(tmp_path):
    job, answers, addresses = tiny_job(tmp_path), [], set()

    def on_event(event):
        if event.kind != "point" or answers:
            return
        alive = ray_processes(os.getpid())
        addresses.update(listening(member.pid for member in alive))
        raylet = next(member for member in alive if "raylet/raylet --raylet_socket" in member.words)
        theirs = dict(
            entry.split("=", 1) for entry in Path(f"/proc/{raylet.pid}/environ").read_text().split("\0") if "=" in entry
        )
        address = re.search(r"--gcs-address=(\S+)", raylet.words).group(1)
        for token in (theirs["RAY_AUTH_TOKEN"], "0" * 64, None):
            given = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
            given |= {} if token is None else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
            client = [sys.executable, "-c", CLIENT, address]
            answers.append(subprocess.run(client, env=given, capture_output=True, text=True, timeout=PATIENCE))

    (outcome,) = RayRunner().run([job], 1, on_event)
    assert outcome.state == "done" and addresses == {"127.0.0.1"}
    with_token, *without = answers
    assert with_token.returncode == 0, with_token.stderr
    assert all(answer.returncode == 1 and "token" in answer.stderr for answer in without) and len(without) == 2


CLUSTER = """
import os, sys, time
from ray.cluster_utils import Cluster
head = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=head)
(gcs,) = cluster.head_node.all_processes["gcs_server"]
print(cluster.address, gcs.process.pid, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.mark.system
@pytest.mark.xdist_group("ray")
def test_the_head_of_a_cluster_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_runner, "SILENCE_SECONDS", 5.0)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", os.urandom(32).hex())
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as cluster:
        try:
            address, gcs = cluster.stdout.readline().split()
            job, told = tiny_job(tmp_path / "runs", tiny_config(training__samples=800_000)), []

            def on_event(event):
                if event.kind == "tick" and not told:
                    told.append(event.trial)
                    os.kill(int(gcs), signal.SIGKILL)

            with pytest.raises(UserError, match=f"RAY_ADDRESS={address}: the cluster is gone .*resumes"):
                RayRunner(address).run([job], 1, on_event)
            assert not list((tmp_path / "runs").glob(".gonn-ray-*"))
            wait_until(lambda: TrialDirectory(tmp_path / "runs" / job.id).state() == "paused")
        finally:
            cluster.stdin.close()
            cluster.kill()
