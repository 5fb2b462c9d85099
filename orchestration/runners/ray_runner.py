"""The runner under Ray Tune. Ray lives in a child process, because its client aborts the process it is in, or waits for
ever, when Ray dies; the child is then started once more, and the trials resume.

The child (`orchestration.runners.ray_tune`) sends tuples through a pipe: a name and values. It waits for an answer to
`next` and `said` alone.
"""

import os
import secrets
import tempfile
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import UserError
from gonn_core.files.whole import disk_error
from gonn_core.trial.job import Job
from orchestration.runners.base import RUN_TRIAL, WORKER_ENVIRONMENT, JobQueue, JobSource, OnEvent, TrialOutcome
from orchestration.runners.children import Child, ChildEnded
from orchestration.runners.gpus import places, seeing

ADDRESS = "RAY_ADDRESS"
SERVE = "orchestration.runners.ray_tune:serve"
"""Main function of the child, by its path: only the child imports Ray."""
SILENCE_SECONDS = 300.0
"""Ray counts as dead when it has not answered for so long; a busy machine takes its time to start it. When one of Ray's
processes dies, the child notices earlier."""
NAME = "gonn-ray-"
"""Start of the name of a scratch folder; the process id of its command follows."""
TMP = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())
"""Where the scratch folders of private clusters are: sockets need a short path, so not under TMPDIR."""
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "gonn_core", ROOT / "orchestration"
"""What a trial imports; only these are sent to the nodes of a cluster."""
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",  # relative folders are relative to the command's
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # its handler waits for running trials to end
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",
    "RAY_gcs_server_port_wait_time_s": "300",  # as SILENCE_SECONDS
}
"""Of the child, before it imports Ray: no telemetry, no files, no wait after Ctrl-C."""
PRIVATE = WORKER_ENVIRONMENT | {
    "RAY_AUTH_MODE": "token",
    # As on macOS: Ray takes 127.0.0.1 for this machine's address, so that nothing of it listens on a network.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_process_group_cleanup_enabled": "0",  # all in the child's process group
    "RAY_worker_niceness": "0",  # Ray's default is 15: next to any other program trials would starve
}
"""Of the child and all processes of a private cluster."""


class RayPlan(NamedTuple):
    """What the child is to do.

    address: of a cluster; None: a private one, with `gpus` GPUs. slots: trials at a time; None: as many as the cluster
    has cores for. first: a job; its folders are those of all. scratch: for Ray's session and Tune's bookkeeping; on a
    cluster in the folder of trials, which every node sees.
    """

    address: str | None
    slots: int | None
    gpus: int
    first: Job
    scratch: Path


class RayRunner:
    """Runner under Ray Tune: on a private cluster on this machine, or on the one at `address`, of which this machine
    must be a node. per_gpu: trials on each GPU (None: see `places`)."""

    def __init__(self, address: str | None = None, function: str = RUN_TRIAL, per_gpu: int | None = None):
        self._address, self._function, self._per_gpu = address, function, per_gpu

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[TrialOutcome]:
        """See `Runner.run`. On a cluster the folders of the jobs must be shared and absolute.

        Raises UserError when a private Ray dies twice, or a cluster once; the same call then resumes.
        """
        queue, address = JobQueue(jobs, on_event), self._address
        if (first := queue.first) is None:
            return []
        where = places(jobs, slots, first.run.device, self._per_gpu)
        variables = {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}
        if not address:
            queue.gpus, queue.per_gpu, slots = len(where.gpus), where.per_gpu, where.slots
            path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            own = {"PYTHONPATH": path, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
            variables |= PRIVATE | own | (seeing(where.gpus) if where.gpus else {})
        prefix = f"{NAME}{os.getpid()}-"
        parent, prefix = (Path(first.run.runs), f".{prefix}{os.uname().nodename}-") if address else (TMP, prefix)
        for is_last in (False, True):
            try:
                parent.mkdir(parents=True, exist_ok=True)
                scratch = tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True)
            except OSError as error:
                raise disk_error(parent, error) from None
            with scratch as folder:
                plan = RayPlan(address, slots, len(where.gpus), first, Path(folder))
                child = Child(SERVE, plan, variables=variables)
                try:
                    why = self._serve(queue, child, bool(address) and first.run.device != "cpu")
                finally:
                    child.kill_group()  # all that Ray started on this machine
            if why is None:
                return queue.outcomes
            if address:
                raise UserError(f"{ADDRESS}={address}: the cluster is gone ({why}); later the same command resumes")
            if not is_last:
                queue.queue_running_again(f"Ray ended ({why}); it is started again")
        raise UserError(f"Ray ended twice ({why}); the same command resumes, with --runner local without Ray")

    def _serve(self, queue: JobQueue, child: Child, finds_gpus: bool) -> str | None:
        """Have a child run the jobs, on the GPUs that it finds. None when all have ended, else how Ray died."""
        jobs: dict[str, Job] = {}  # by Tune's id of the trial
        while True:
            try:
                message = child.receive(SILENCE_SECONDS)
            except ChildEnded as end:
                return f"its process {end}"
            match message:
                case "up", cpus, gpus if gpus and finds_gpus:
                    queue.gpus, queue.per_gpu, queue.cores = gpus, self._per_gpu or 1, cpus
                case "next", trial:
                    config = None
                    if (job := queue.take()) is not None:
                        jobs[trial] = job
                        gpu = 1 / queue.per_gpu if queue.gpus else 0.0
                        config = {"function": self._function, "job": job, "gpu": gpu}
                    child.send((config, queue.is_over))
                case "begun", trial:
                    queue.begin(jobs[trial])
                case "said", trial, messages:
                    child.send(_hear(queue, jobs, trial, messages))
                case "died", trial if trial in jobs:  # else after it had failed
                    queue.died(jobs.pop(trial), "the worker process died")
                case ("over",):
                    return None
                case "down", why:
                    return why
                case "refused", line:
                    raise UserError(line)


def _hear(queue: JobQueue, jobs: dict[str, Job], trial: str, messages: list) -> bool:
    """Pass on events and the outcome of a trial; whether it is to stop."""
    stop = False
    for message in messages:
        if isinstance(message, TrialOutcome):
            queue.end(jobs.pop(trial), message)
        elif queue.publish(message) is False:
            stop = True
    if stop := stop and trial in jobs:
        job = jobs.pop(trial)
        queue.end(job, TrialOutcome(job.id, "paused"))
    return stop


def node_problem(job: Job, scratch: str) -> str | None:
    """Run on a node: its name and why it cannot run trials with the folders of this job, among them the command's
    `scratch`; None when it can. The store is read and compared with its digest."""
    from gonn_core.records.store import open_store

    try:
        open_store(Path(job.run.store))
    except UserError as error:
        return f"node {os.uname().nodename} {error}"
    return None if Path(scratch).exists() else f"node {os.uname().nodename} does not see the folder {job.run.runs}"
