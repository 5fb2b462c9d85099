"""`python -m gonn_core.trial job.json`: run one trial on any machine that has torch, numpy, numba, pydantic and
safetensors."""

import argparse
import json
import signal
import sys
import time
from pathlib import Path

from gonn_core.errors import UserError, printable
from gonn_core.metrics import watched
from gonn_core.trial.events import Evaluating, Event, Finished, Note, Preparing, Started, Tick, Waiting, is_passing
from gonn_core.trial.job import read_job

LINE_SECONDS = 5.0
AGAIN_SECONDS = 2.0
"""The same signal within so short a time is one: `timeout` sends it to a command and then to its whole group."""


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 done, 2 an error that the user can put right, 130 paused by Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m gonn_core.trial", description="Train one trial, or resume it; evaluate it as its job asks."
    )
    parser.add_argument("job", type=Path, help="job file, or the config.json of a trial directory")
    parser.add_argument("--runs", help="folder of trial directories (default: as the job says)")
    parser.add_argument("--store", help="folder of the position store (default: as the job says)")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), help="default: as the job says")
    parser.add_argument(
        "--compile", choices=("none", "body", "graphs"), help="of the net; a trial under way keeps its own"
    )
    options = parser.parse_args(arguments)
    try:
        job = read_job(options.job)
        settings = ("runs", "store", "device", "compile")
        given = {name: value for name in settings if (value := getattr(options, name)) is not None}
        job = job.model_copy(update={"run": job.run.model_copy(update=given)})
        from gonn_core.trial.run import run_trial  # torch and numba, after the cheap mistakes

        result = run_trial(job, Printer(sys.stderr))
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(result))
    return 0 if result["state"] == "done" else 130


class Printer:
    """Prints a trial's events on a stream, those that only say how far it is every few seconds. Ctrl-C, SIGTERM, or the
    end of the terminal asks for a pause."""

    def __init__(self, stream):
        self._stream, self._next = stream, 0.0
        self._asked: float | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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
        if not is_passing(event) or time.monotonic() >= self._next:
            try:
                print(describe(event), file=self._stream, flush=True)
            except OSError:  # the terminal was closed: the trial matters more
                pass
            self._next = time.monotonic() + LINE_SECONDS
        return self._asked is None


def describe(event: Event) -> str:
    """One line for an event."""
    if isinstance(event, Waiting):
        return f"{event.trial}  waiting: process {event.pid} on {event.host} works on this trial"
    if isinstance(event, Note):
        return f"{event.trial}  {printable(event.message, 1000)}"
    parts = [f"{event.trial}  {event.samples:,}/{event.total:,} samples"]
    if isinstance(event, Started):
        return f"{parts[0]}  {'resumes' if event.resumed else 'starts'} on {event.device}"
    if isinstance(event, Preparing | Evaluating):
        doing = f"evaluating {event.split}" if isinstance(event, Evaluating) else "storing ladder planes"
        return f"{parts[0]}  {doing}: {event.positions:,}/{event.of:,} positions"
    if event.samples_per_s:
        parts.append(f"{event.samples_per_s:,.0f}/s")
    if event.nats is not None:
        parts.append(watched(event.nats, digits=4))
    if isinstance(event, Tick):
        minutes, seconds = divmod(round(event.seconds_left), 60)
        parts.append(f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left")
    if isinstance(event, Finished):
        evaluations = event.result["evaluations"] if event.result else []
        parts += ["done", *(f"{e['nats']:.4f} {e['split']} nats, top-1 {e['top1']:.2%}" for e in evaluations)]
    return "  ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
