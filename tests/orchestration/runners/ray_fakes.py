"""Stand-ins for Ray's child process, without Ray, and what trials do in the tests of the real one."""

import os
import signal
import time
from pathlib import Path

from gonn_core.trial.directory import TrialDirectory
from orchestration.runners.base import TrialOutcome
from orchestration.runners.ray_runner import RayPlan
from tests.orchestration.fakes import run_fake
from tests.waiting import wait_until


def serve(pipe, plan: RayPlan) -> None:
    """Behaves as FAKE_RAY says; notes in the folder of trials that it was started."""
    os.setsid()
    behaviour = os.environ["FAKE_RAY"]
    notes = Path(plan.first.run.runs) / "starts"
    with open(notes, "a") as file:
        print("start", file=file)
    started = len(notes.read_text().splitlines())
    match behaviour:
        case "refuses":
            pipe.send(("refused", "RAY_ADDRESS=10.0.0.1:6379: no Ray cluster there"))
        case "does not start":
            pipe.send(("down", "Exception: The current node timed out during startup"))
        case "starts late" if started == 1:
            os.kill(os.getpid(), signal.SIGABRT)
        case "dies" | "dies once" if behaviour == "dies" or started == 1:
            _take_up_a_trial(pipe)
            os.kill(os.getpid(), signal.SIGABRT)
        case "falls silent" | "falls silent once" if behaviour == "falls silent" or started == 1:
            _take_up_a_trial(pipe)
            time.sleep(1000)
        case _:
            pipe.send(("beat",))
            pipe.send(("up", 2, 0))
            while not (answer := _ask(pipe, "next", f"tune-{started}"))[1]:
                pipe.send(("begun", f"tune-{started}"))
                _ask(pipe, "said", f"tune-{started}", [TrialOutcome(answer[0]["job"].id, "done")])
            pipe.send(("over",))


def _ask(pipe, *message):
    pipe.send(message)
    return pipe.recv()


def _take_up_a_trial(pipe) -> None:
    pipe.send(("up", 2, 0))
    if _ask(pipe, "next", "tune-0")[0] is not None:
        pipe.send(("begun", "tune-0"))
        pipe.send(("beat",))


def run_either(job, on_progress) -> dict:
    """The real trial as in `run_held`, or a fake one where the job has no store."""
    return (run_held if job.run.store else run_fake)(job, on_progress)


def _run_trial(job, on_progress) -> dict:
    from gonn_core.trial.run import run_trial  # imports torch, which most fakes do without

    return run_trial(job, on_progress)


def hold(job) -> Path:
    """A file; while it exists, `run_held` waits after the first checkpoint."""
    return Path(job.run.runs) / "hold"


def run_held(job, on_progress) -> dict:
    """The real trial, which waits as `hold` says."""
    checkpoint = TrialDirectory(Path(job.run.runs) / job.id).checkpoint

    def post(event):
        answer = on_progress(event)
        if event.kind == "point" and checkpoint.exists():
            wait_until(lambda: not hold(job).exists())
        return answer

    return _run_trial(job, post)


def run_noting_where(job, on_progress) -> dict:
    """The real trial; notes where its code came from and on which node it ran."""
    import ray

    import gonn_core

    with open(Path(job.run.runs).parent / "notes.txt", "a") as file:
        print(job.id, gonn_core.__file__, ray.get_runtime_context().get_node_id(), file=file)
    return _run_trial(job, on_progress)
