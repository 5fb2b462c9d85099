"""Signals that end a command: one line, the exit code that shells expect, and the numbers of an undisturbed run once
the same command has gone on."""

import os
import signal

import pytest

from orchestration.cli import command
from tests.orchestration.commands import signals_kept

LINE = "stopped; the same command resumes from here"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_ends_a_command_with_one_line(monkeypatch, capsys, number, code):
    put_away = []

    def work(**options):
        try:
            signal.raise_signal(number)
        finally:
            if number != signal.SIGINT:
                signal.raise_signal(number)  # the same wish again: nothing is cut short
            put_away.append(number)

    monkeypatch.setattr(command.gonn.commands["status"], "callback", work)
    with signals_kept():
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, signal.SIG_DFL)
        assert command.run(["status"]) == code
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert put_away == [number] and capsys.readouterr().err.split("\n") == ["", LINE, ""]


def test_what_is_ignored_stays_so_and_a_late_second_signal_is_meant(monkeypatch):
    ends = []
    monkeypatch.setattr(command, "AGAIN_SECONDS", -1.0)
    with signals_kept():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with command.terminable():
            signal.raise_signal(signal.SIGHUP)
            with pytest.raises(command.Terminated):
                signal.raise_signal(signal.SIGTERM)
            monkeypatch.setattr(signal, "raise_signal", ends.append)
            os.kill(os.getpid(), signal.SIGTERM)
            assert ends == [signal.SIGTERM] and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
