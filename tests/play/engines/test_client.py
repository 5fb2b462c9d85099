"""A guarded conversation with an engine that misbehaves in every way we could think of."""

import sys
import threading
from pathlib import Path

import pytest

from gonn_core.play.engines import client as gtp_client
from gonn_core.play.engines.client import CommandFailed, EngineCrashed, EngineTimeout, GtpClient
from tests.paths import FAKE_ENGINE
from tests.waiting import PATIENCE, wait_until

FAKE = FAKE_ENGINE


def fake(*words, timeout=PATIENCE):
    return GtpClient([sys.executable, "-S", str(FAKE), *words], timeout)


def gone(pid):
    """Whether no process of the group is left, zombies that init has not reaped aside."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[2] == str(pid) and fields[0] != "Z":
            return False
    return True


def test_answers_come_without_status_and_number():
    with fake("stones=1") as engine:
        assert engine.ask("name") == "Fake"
        assert engine.ask("clear_board") == ""
        assert engine.ask("genmove black") == "A19"
        assert engine.ask("echo two  words") == "two  words"


def test_a_refusal_leaves_the_engine_alive():
    with fake() as engine:
        with pytest.raises(CommandFailed, match="refuses 'frobnicate': unknown command"):
            engine.ask("frobnicate")
        assert engine.ask("name") == "Fake"


@pytest.mark.parametrize(
    "does, said",
    [
        ("crash", "the engine ended.*out of ideas"),
        ("flood", "too long an answer"),
        ("chatter", "too long an answer"),
        ("junk", "no GTP answer"),
        ("stale", "an answer to another command"),
    ],
)
def test_what_is_no_gtp_ends_the_engine(does, said):
    engine = fake("at=1", f"does={does}")
    pid = engine._process.pid
    with pytest.raises(EngineCrashed, match=said):
        engine.ask("genmove black")
    wait_until(lambda: gone(pid))
    with pytest.raises(EngineCrashed, match="not running"):
        engine.ask("name")
    engine.close()


@pytest.mark.parametrize("does", ["hang", "noise", "child"])
def test_an_engine_that_does_not_answer_is_killed_with_its_children(does):
    engine = fake("at=1", f"does={does}")
    assert engine.ask("name") == "Fake"
    with pytest.raises(EngineTimeout, match="within 0.2 s"):
        engine.ask("genmove black", timeout=0.2)
    wait_until(lambda: gone(engine._process.pid))
    engine.close()


def test_noise_between_commands_never_blocks():
    """Standard error is drained while a command is asked; its end is kept for the message."""
    engine = GtpClient(
        [
            sys.executable,
            "-S",
            "-c",
            "import sys\nfor line in sys.stdin:\n sys.stderr.write('x' * 300000 + 'last words')\n sys.stderr.flush()\n"
            " print('=' + line.split()[0] + ' y\\n', flush=True)",
        ]
    )
    assert [engine.ask("a"), engine.ask("b")] == ["y", "y"]
    assert len(engine._stderr_tail) <= gtp_client.MOST_REMEMBERED
    engine.close()


def test_an_engine_that_ignores_quit_is_killed(monkeypatch):
    monkeypatch.setattr(gtp_client, "GOODBYE_SECONDS", 0.2)
    engine = fake("does=stays")
    pid = engine._process.pid
    engine.close()
    engine.close()
    wait_until(lambda: gone(pid))


def test_killed_from_another_thread():
    engine = fake("at=1", "does=hang")
    assert engine.ask("name") == "Fake"
    threading.Timer(0.2, engine.kill).start()
    with pytest.raises(EngineCrashed):
        engine.ask("genmove black")
    engine.close()


def test_a_program_that_cannot_start():
    with pytest.raises(EngineCrashed, match="cannot be started"):
        GtpClient(["/nonexistent/engine"])
