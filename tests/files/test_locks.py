"""Locks: one holder at a time, whoever waits, and none who has died."""

import subprocess
import sys
import threading

import pytest

from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json, write_json
from gonn_core.files.whole import locked

HOLDER = """
import sys
from pathlib import Path
from gonn_core.files.whole import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_threads_wait_for_each_other(tmp_path):
    inside = []

    def work():
        with locked(tmp_path / "new" / "a.lock"):
            inside.append(1)
            assert len(inside) == 1
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not inside


def test_a_lock_of_a_process_that_was_killed_is_free(tmp_path):
    path = tmp_path / "a.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    taken = threading.Event()

    def take():
        with locked(path):
            taken.set()

    waiting = threading.Thread(target=take)
    waiting.start()
    assert not taken.wait(0.2)
    holder.kill()
    holder.communicate()
    waiting.join()
    assert taken.is_set()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot write"), locked(tmp_path / "file" / "a.lock"):
        pass
    with pytest.raises(InputError, match="cannot be written"):
        write_json(tmp_path / "file" / "a.json", {})


def test_json_is_written_into_a_folder_that_is_made(tmp_path):
    write_json(tmp_path / "new" / "a.json", {"a": [1]})
    assert read_json(tmp_path / "new" / "a.json") == {"a": [1]}
