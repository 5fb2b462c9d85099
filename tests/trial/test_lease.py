"""One holder at a time; the dead are replaced, the overtaken write nothing more."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time

import pytest

from gonn_core.errors import InputError
from gonn_core.trial import lease as lease_module
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease, LeaseHeld, LeaseLost, Process, is_alive, live_holder, started, this_process
from tests.waiting import PATIENCE, wait_until


def plant(folder, process, heartbeat=None):
    """A lease as another process would have left it."""
    path = folder / "lease.json"
    path.write_text(json.dumps({"token": "other", "process": process._asdict()}))
    if heartbeat is not None:
        os.utime(path, (heartbeat, heartbeat))


def test_held_then_free(tmp_path):
    lease = Lease.take(tmp_path)
    assert live_holder(tmp_path).process == this_process()
    with pytest.raises(LeaseHeld, match=f"process {os.getpid()}"):
        Lease.take(tmp_path)
    lease.release()
    assert live_holder(tmp_path) is None
    Lease.take(tmp_path).release()


def test_a_dead_process_is_replaced_at_once(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    own = this_process()._replace(pid=child.pid)
    process = own._replace(started=started(child.pid))
    plant(tmp_path, process)
    with pytest.raises(LeaseHeld):
        Lease.take(tmp_path)
    child.kill()
    wait_until(lambda: not is_alive(process))  # dead, perhaps a zombie still
    Lease.take(tmp_path).release()
    child.wait()


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps here")
def test_without_proc_a_start_time_is_the_same_in_every_time_zone(monkeypatch):
    """Commands of two terminals must agree on whether a process is the one that took a lease."""
    monkeypatch.setattr(lease_module.Path, "exists", lambda path: False)
    monkeypatch.setenv("TZ", "UTC")
    here = started(os.getpid())
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert here and started(os.getpid()) == here
    assert started(2**22 - 1) is None


def test_a_broken_lease_is_one_line(tmp_path):
    for text in ("", "[]", "{}", '{"token": 1, "process": {}}'):
        (tmp_path / "lease.json").write_text(text)
        with pytest.raises(InputError, match="not a lease"):
            Lease.take(tmp_path)


def test_a_later_process_with_the_same_number_is_another(tmp_path):
    plant(tmp_path, this_process()._replace(started="1"))
    Lease.take(tmp_path).release()


def test_another_machine_counts_by_its_heartbeat(tmp_path):
    elsewhere = Process(1, "1", "another-host/boot")
    plant(tmp_path, elsewhere, time.time() - lease_module.STALE_SECONDS / 2)
    with pytest.raises(LeaseHeld, match="another-host"):
        Lease.take(tmp_path)
    plant(tmp_path, elsewhere, time.time() - lease_module.STALE_SECONDS - 1)
    Lease.take(tmp_path).release()


def test_the_heart_beats(tmp_path, monkeypatch):
    monkeypatch.setattr(lease_module, "HEARTBEAT_SECONDS", 0.01)
    lease = Lease.take(tmp_path)
    os.utime(tmp_path / "lease.json", (0, 0))
    before = time.time()
    wait_until(lambda: (tmp_path / "lease.json").stat().st_mtime > 1)
    assert (tmp_path / "lease.json").stat().st_mtime > before - 10
    lease.release()


def test_the_overtaken_renames_nothing(tmp_path):
    directory = TrialDirectory(tmp_path)
    directory.create()
    lease = Lease.take(tmp_path)
    directory.write("metrics.jsonl", b"old", lease)
    plant(tmp_path, Process(1, "1", "another-host/boot"), time.time())
    with pytest.raises(LeaseLost):
        directory.write("metrics.jsonl", b"new", lease)
    with pytest.raises(LeaseLost):
        directory.remove("metrics.jsonl", lease)
    lease.release()  # leaves the other's lease alone
    assert (tmp_path / "metrics.jsonl").read_bytes() == b"old"
    assert json.loads((tmp_path / "lease.json").read_text())["token"] == "other"
    assert not list(tmp_path.glob(".*.tmp"))


def take_and_tell(folder, barrier, results):
    barrier.wait()
    try:
        Lease.take(folder)
        results.put("won")
    except LeaseHeld:
        results.put("lost")
    barrier.wait()  # nobody dies before all have tried


def test_of_several_processes_one_wins_a_take_over(tmp_path):
    plant(tmp_path, this_process()._replace(started="1"))
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(4), context.Queue()
    processes = [context.Process(target=take_and_tell, args=(tmp_path, barrier, results)) for _ in range(4)]
    for process in processes:
        process.start()
    outcomes = sorted(results.get(timeout=PATIENCE) for _ in processes)
    for process in processes:
        process.join(PATIENCE)
    assert outcomes == ["lost", "lost", "lost", "won"]
