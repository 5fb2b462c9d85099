"""Stand-ins for Ray's process, in processes of their own, without Ray: each serves what the plan's function names."""

import os
import signal
import time
from pathlib import Path

from orchestration.runners.base import Outcome
from orchestration.runners.ray_link import Beat, Call, Down, NotStarted, Over, Plan, Refused, Up


def serve(pipe, plan: Plan) -> None:
    """Behaves as `plan.function` says; notes in the folder of trials that it was started."""
    os.setsid()
    with open(Path(plan.runs) / "starts", "a") as file:
        print(plan.start_seconds, file=file)
    started = len((Path(plan.runs) / "starts").read_text().splitlines())
    match plan.function:
        case "refuses":
            pipe.send(Refused("RAY_ADDRESS=10.0.0.1:6379: no Ray cluster there"))
        case "does not start":
            pipe.send(NotStarted("Exception: The current node timed out during startup"))
        case "starts late" if started == 1:
            os.kill(os.getpid(), signal.SIGABRT)
        case "dies" | "dies once" if plan.function == "dies" or started == 1:
            _take_up_a_trial(pipe)
            os.kill(os.getpid(), signal.SIGABRT)
        case "loses its raylet once" if started == 1:
            _take_up_a_trial(pipe)
            pipe.send(Down("its raylet was killed by SIGKILL"))
            time.sleep(1000)
        case "falls silent":
            _take_up_a_trial(pipe)
            time.sleep(1000)
        case _:
            pipe.send(Beat())
            pipe.send(Up(2, 0))
            while not (found := _ask(pipe, "next_job", f"tune-{started}")).over:
                _ask(pipe, "begun", f"tune-{started}")
                _ask(pipe, "hear", f"tune-{started}", [Outcome(found.job.id, "done")])
            pipe.send(Over())


def _ask(pipe, method: str, *arguments):
    pipe.send(Call(method, arguments))
    return pipe.recv()


def _take_up_a_trial(pipe) -> None:
    pipe.send(Beat())
    pipe.send(Up(2, 0))
    if _ask(pipe, "next_job", "tune-0").job is not None:
        _ask(pipe, "begun", "tune-0")
        pipe.send(Beat())
