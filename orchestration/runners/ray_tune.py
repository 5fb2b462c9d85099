"""Trials under Ray Tune: on this machine's cores, fractions of its GPUs, or a cluster. The only module that imports
Ray.

Tune schedules trials, reuses their processes and passes on what they say; it stores and restores nothing. The state of
a trial is its directory, so Ray's own checkpoints, loggers and result folders stay unused.
"""

import logging
import os
import queue
import secrets
import sys
import threading
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from gonn_core.errors import SettingError, UserError
from gonn_core.trial.events import Finished
from gonn_core.trial.job import Job
from orchestration.runners.base import (
    ATTEMPTS,
    ONE_THREAD,
    RUN_TRIAL,
    JobSource,
    OnEvent,
    Outcome,
    Places,
    describe,
    distinct,
    failure,
    load_function,
    places,
)
from orchestration.runners.gpu_slots import GpuSlots, shared_gpus
from orchestration.runners.queue import JobQueue
from orchestration.runners.ray_cluster import CHECK_SECONDS, SETTING, check_nodes, node_problem, shipped, token_in
from orchestration.runners.ray_jobs import RayStudy
from orchestration.runners.ray_scratch import scratch

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": "(?s).*",  # a dead worker is told in one line, as an event
    "RAY_CHDIR_TO_TRIAL_DIR": "0",  # relative folders mean the driver's
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # its handler waits for running trials to end
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",
    "TUNE_WARN_THRESHOLD_S": "60",
}
"""Set before Ray is imported: no telemetry, no output, no files, no wait after Ctrl-C."""

_TOKEN = secrets.token_hex(32)  # guards the private cluster; of this process alone (Ray reads it once), on no disk
_OBJECT_STORE_BYTES = (
    80 * 2**20
)  # near the smallest that Ray accepts: trials exchange nothing but their jobs and events


class RayRunner:
    """Runner under Ray Tune: a private cluster on this machine, or the one at `address`, of which this machine must be
    a node."""

    def __init__(self, address: str | None = None, function: str = RUN_TRIAL):
        self._address, self._function = address, function

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. On a cluster, the folders of jobs must be shared and absolute, and slots None means all its
        resources allow."""
        source = distinct(jobs)
        first = next(source, None)
        if first is None:
            return []
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        where = places(jobs, slots, first.run.device)
        # Tune's bookkeeping must be where every node sees it.
        shared = Path(first.run.runs) if self._address else None
        with scratch(shared) as folder, _cluster(self._address, where, folder):
            from ray import tune

            if self._address:
                _check_cluster(first)
            sharing = _cluster_slots(slots, first.run.device) if self._address else shared_gpus(where, slots)
            study = RayStudy(JobQueue(chain([first], source), on_event, sharing))
            tune.Tuner(
                tune.with_resources(
                    _trainable(self._function),
                    _resources,
                ),
                tune_config=tune.TuneConfig(
                    search_alg=_searcher(study),
                    num_samples=-1,
                    max_concurrent_trials=slots if self._address else where.most,
                    reuse_actors=True,
                    trial_name_creator=lambda trial: trial.trial_id,
                    trial_dirname_creator=lambda trial: trial.trial_id,
                ),
                run_config=tune.RunConfig(
                    name="study",
                    storage_path=str(folder / "tune"),
                    verbose=0,
                    stop=_stopper(study),
                    checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                    failure_config=tune.FailureConfig(max_failures=ATTEMPTS - 1),
                    callbacks=[_callback(study)],
                ),
            ).fit()
        return study.ended()


def _resources(config: dict):
    """What a trial takes of a node: a core, and its share of a GPU."""
    from ray import tune

    return tune.PlacementGroupFactory([{"CPU": 1, **({"GPU": config["gpu"]} if config["gpu"] else {})}])


def _trainable(function: str):
    """The Trainable; made here because its base class is Ray's."""
    from ray import tune

    class Trial(tune.Trainable):
        """Runs a trial in a thread; every step passes on what it said since the last. An error is a result: Tune
        retries only the dead."""

        def setup(self, config):
            self._thread = None

        def reset_config(self, new_config):
            self._join()
            return True  # no more to reset: run_trial sets all of torch's global state at its start

        def step(self):
            if self._thread is None:
                self._messages: queue.SimpleQueue = queue.SimpleQueue()
                self._pause = False
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            messages = [self._messages.get()]
            while not self._messages.empty():
                messages.append(self._messages.get())
            return {"messages": messages, "done": isinstance(messages[-1], Outcome)}

        def cleanup(self):
            self._join()

        def _join(self):
            if self._thread is not None:
                self._pause = True
                self._thread.join()
                self._thread = None

        def _run(self):
            job = self.config["job"]
            try:
                outcome = Outcome(job.id, load_function(function)(job, self._post)["state"])
            except Exception as error:  # whatever a trial raises is its outcome: the study goes on
                if not isinstance(error, UserError) and not _cuda_works():
                    os._exit(1)
                outcome = failure(job, error)
            self._messages.put(outcome)

        def _post(self, event):
            if not isinstance(event, Finished):  # the driver says that itself, once it has the outcome
                self._messages.put(event)
            return not self._pause

    return Trial


def _cuda_works() -> bool:
    """False when this process met a CUDA error that no later trial in it can get rid of."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return True
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def _searcher(study: RayStudy):
    """What Tune asks for trials: hands out jobs in order, when there is room for one."""
    from ray import tune

    class Jobs(tune.search.Searcher):
        def suggest(self, trial_id):
            job = study.next_job(trial_id)
            if job is None:
                return self.FINISHED if study.is_over else None  # None: Tune asks again
            return {"job": job, "gpu": study.queue.slots.share if study.queue.slots else 0.0}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    return Jobs()


def _stopper(study: RayStudy):
    """Where results arrive first, and where a trial can be stopped."""
    from ray import tune

    class Stop(tune.Stopper):
        def __call__(self, trial_id, result):
            return study.hear(trial_id, result["messages"])

        def stop_all(self):
            return False

    return Stop()


def _callback(study: RayStudy):
    """Where starts and deaths of processes arrive."""
    from ray import tune

    class Processes(tune.Callback):
        def on_trial_start(self, iteration, trials, trial, **info):
            study.begun(trial.trial_id)

        def on_trial_recover(self, iteration, trials, trial, **info):
            study.died(trial.trial_id, for_good=False)

        def on_trial_error(self, iteration, trials, trial, **info):
            study.died(trial.trial_id, for_good=True)

    return Processes()


def _check_cluster(job: Job) -> None:
    """That every node that can train sees the folders of the jobs, and has the store whole. Raises SettingError."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    runs, store = Path(job.run.runs), Path(job.run.store)
    answers = {}
    with token_in(runs) as token:
        for node in ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                check = ray.remote(node_problem).options(num_cpus=0, scheduling_strategy=here)
                answers[f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})"] = check.remote(
                    str(runs), token, str(store), store.name
                )
        try:
            check_nodes({node: ray.get(answer, timeout=CHECK_SECONDS) for node, answer in answers.items()}, runs)
        except ray.exceptions.RayError as error:
            raise SettingError(
                SETTING, ray.get_runtime_context().gcs_address, f"its nodes cannot run this code ({describe(error)})"
            ) from None


def _cluster_slots(slots: int | None, device: str) -> GpuSlots | None:
    """What shares the GPUs of the cluster, None where there are none or they are not wanted."""
    import ray

    all_of_it = ray.cluster_resources()
    gpus = int(all_of_it.get("GPU", 0)) if device != "cpu" else 0
    return GpuSlots(gpus, max(1, int(all_of_it.get("CPU", 1)) // gpus), slots) if gpus else None


@contextmanager
def _cluster(address: str | None, where: Places, folder: Path):
    """Ray, started privately on this machine (never joining a cluster that happens to run) or connected to
    `address`."""
    root = str(Path(__file__).resolve().parents[2])
    private = {**ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}
    private |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": _TOKEN}
    private |= {
        "RAY_worker_niceness": "0"
    }  # Ray's own is 15: on a machine that does anything else, trials would starve
    before = {} if address else {name: os.environ.get(name) for name in private}
    os.environ.update({} if address else private)  # the private cluster's processes inherit them
    import ray

    logging.getLogger("ray").setLevel(logging.CRITICAL)
    common: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    try:
        if address:
            try:
                ray.init(
                    address=address, runtime_env={"env_vars": {**_ENVIRONMENT, **ONE_THREAD}, **shipped()}, **common
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise SettingError(SETTING, address, f"no Ray cluster there ({describe(error)})") from None
        else:
            ray.init(
                address="local",
                num_cpus=where.most,
                num_gpus=len(where.gpus),
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                _temp_dir=str(folder / "ray"),
                **common,
            )
        yield
    finally:
        ray.shutdown()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
