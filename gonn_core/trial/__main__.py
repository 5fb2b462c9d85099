"""`python -m gonn_core.trial job.json`: run one trial on any machine that has torch, numpy, numba, pydantic and
safetensors."""

import argparse
import json
import math
import signal
import sys
import time
from pathlib import Path

from gonn_core.errors import UserError, printable
from gonn_core.metrics import watched
from gonn_core.trial.events import (
    Compiling,
    Evaluating,
    Event,
    Finished,
    Mended,
    Point,
    Preparing,
    Started,
    Tick,
    Waiting,
    is_passing,
    steps_done,
)
from gonn_core.trial.job import read_job

LINE_SECONDS = 5.0
AGAIN_SECONDS = 2.0
"""The same signal within so short a time is one: `timeout` sends it to a command and then to its whole group."""


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 2 an error that the user can put right, 130 paused by Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m gonn_core.trial", description="Train one trial, or go on with it; evaluate it as its job asks."
    )
    parser.add_argument("job", type=Path, help="job file, or the config.json of a trial directory")
    parser.add_argument("--runs", help="folder of trial directories (default: as the job says)")
    parser.add_argument("--store", help="folder of the position store (default: as the job says)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), help="default: as the job says")
    parser.add_argument(
        "--compile", choices=("none", "body", "graphs"), help="of the net; a trial under way keeps its own"
    )
    parser.add_argument("--progress", action=argparse.BooleanOptionalAction, default=True, help="tell how far it is")
    options = parser.parse_args(arguments)
    try:
        job = read_job(options.job)
        settings = ("runs", "store", "device", "compile")
        given = {name: value for name in settings if (value := getattr(options, name)) is not None}
        job = job.model_copy(update={"run": job.run.model_copy(update=given)})
        from gonn_core.trial.run import run_trial  # torch and numba, after the cheap mistakes

        result = run_trial(job, Printer(sys.stderr, options.progress))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(result))
    return 0 if result["state"] == "done" else 130


class Printer:
    """Tells a trial's events on a stream: a live line on a terminal, else a plain line every few seconds. Ctrl-C,
    SIGTERM, or the end of the terminal asks for a pause."""

    def __init__(self, stream, wanted: bool = True):
        self._stream, self._wanted, self._next, self._live = stream, wanted, 0.0, False
        self._asked: float | None = None
        for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._ask_to_stop)

    def _ask_to_stop(self, number, frame) -> None:
        if self._asked is None:
            self._asked = time.monotonic()
        elif time.monotonic() - self._asked > AGAIN_SECONDS:  # the second time it is meant
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def __call__(self, event: Event) -> bool:
        """Print what is due; False once a pause was asked for."""
        try:
            self._tell(event)
        except OSError:  # the terminal was closed: the trial matters more
            self._wanted = False
        return self._asked is None

    def _tell(self, event: Event) -> None:
        if self._wanted:
            passing = is_passing(event)
            if self._stream.isatty():
                self._stream.write(("\r\x1b[K" if self._live else "") + describe(event) + ("" if passing else "\n"))
                self._live = passing
                self._stream.flush()
            elif not passing or time.monotonic() >= self._next:
                print(describe(event), file=self._stream, flush=True)
                self._next = time.monotonic() + LINE_SECONDS


def describe(event: Event) -> str:
    """One line for an event."""
    if isinstance(event, Waiting):
        return f"{event.trial}  waiting: process {event.pid} on {event.host} works on this trial"
    if isinstance(event, Mended):
        return f"{event.trial}  {printable(event.message, 1000)}"
    start = f"{event.trial}  {event.samples:,}/{event.total:,} samples"
    if isinstance(event, Started):
        return f"{start}  {'goes on' if event.resumed else 'starts'} on {event.device}"
    if isinstance(event, Preparing):
        return f"{start}  storing the ladder planes of the data set: {event.positions:,}/{event.of:,} positions"
    if isinstance(event, Evaluating):
        done = f"{event.positions:,}/{event.of:,} positions"
        return f"{start}  evaluating {event.split} ({event.history}): {done}"
    if isinstance(event, Compiling):
        return f"{start}  compiling the net"
    parts = [start]
    if isinstance(event, Tick) and event.step is not None:
        parts.append(f"step {steps_done(event.step)}/{event.steps:,}")
    if event.samples_per_s:
        parts.append(f"{event.samples_per_s:,.0f}/s")
    if event.nats is not None:
        parts.append(watched(event.nats, digits=4))
    if isinstance(event, Tick | Point) and not math.isnan(event.train_nats):
        parts.append(watched(event.train_nats, "train", 4))
    if isinstance(event, Tick):
        parts.append(f"{_duration(event.seconds_left)} left")
    if isinstance(event, Finished):
        evaluations = event.result["evaluations"] if event.result else []
        parts += ["done", *(f"{e['nats']:.4f} {e['split']} nats, top-1 {e['top1']:.2%}" for e in evaluations)]
    return "  ".join(parts)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


if __name__ == "__main__":
    sys.exit(main())
