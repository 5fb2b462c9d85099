"""The child process in which Ray runs: trials under Ray Tune on this machine or a cluster. The only module that imports
Ray.

Tune schedules trials and reuses their processes; it stores and restores nothing. The state of a trial is its directory,
so Ray's checkpoints, loggers and result folders are not used. All decisions are made by the command at the other end of
the pipe (`orchestration.runners.ray_runner`).
"""

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray import tune
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gonn_core.errors import SettingError, UserError
from orchestration.runners.base import WORKER_ENVIRONMENT, TrialOutcome, describe, run_job
from orchestration.runners.children import wait_for_parent
from orchestration.runners.ray_runner import ADDRESS, ENVIRONMENT, PACKAGES, RayPlan, node_problem

OBJECT_STORE_BYTES = 80 * 2**20
"""Near the smallest that Ray accepts: only jobs and events are exchanged."""
BEAT_SECONDS = 2.0
"""How often the child asks Ray's head whether it answers."""


def serve(pipe, plan: RayPlan) -> None:
    """Main function of the child. It leads a session, out of reach of the terminal's signals, which the command
    handles; what Ray prints goes to a file."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(plan.scratch / "ray.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    threading.Thread(target=_end_with_command, args=(plan,), daemon=True).start()
    command = Driver(pipe)
    command.send("beat")  # Ray was imported
    try:
        _start(plan)
        threading.Thread(target=_beat, args=(command,), daemon=True).start()
        if plan.address:
            _check_nodes(plan)
        command.send("up", *(int(ray.cluster_resources().get(kind, 0)) for kind in ("CPU", "GPU")))
        _tuner(plan, command).fit()
        if plan.address:
            ray.shutdown()
        command.send("over")
    except UserError as error:
        command.send("refused", str(error))
    except Exception as error:  # the death of Ray has many names
        command.send("down", describe(error))
    os._exit(0)  # the command ends what is left of Ray


class Driver(tune.Callback):
    """The command at the other end of the pipe. Tune reports results, starts and deaths to it."""

    def __init__(self, pipe):
        self._pipe, self._lock = pipe, threading.Lock()

    def __getstate__(self) -> dict:
        """Tune pickles everything it is given, for a restore that never comes."""
        return {}

    def send(self, *message) -> None:
        """Send a message."""
        with self._lock:
            self._pipe.send(message)

    def ask(self, *message) -> Any:
        """The answer to a message; called from Tune's thread only."""
        self.send(*message)
        return self._pipe.recv()

    def is_stopped(self, trial_id: str, result: Mapping) -> bool:
        """Whether a trial is to stop."""
        return self.ask("said", trial_id, result["messages"])

    def on_trial_start(self, iteration, trials, trial, **info) -> None:
        self.send("begun", trial.trial_id)

    def on_trial_error(self, iteration, trials, trial, **info) -> None:
        self.send("died", trial.trial_id)


def _end_with_command(plan: RayPlan) -> None:
    """Kill all of Ray on this machine when the command has ended, killed or not: no worker may outlive it. The scratch
    folder is removed once nothing writes to it."""
    wait_for_parent()
    remove = ["sh", "-c", 'sleep 2; rm -rf -- "$0"', str(plan.scratch)]
    subprocess.Popen(remove, start_new_session=True)
    os.killpg(0, signal.SIGKILL)


def _beat(command: Driver) -> None:
    """Report every few seconds that Ray's head answers and counts this node as alive. Tune itself waits for ever for a
    node that is gone."""
    here = ray.get_runtime_context().get_node_id()
    while True:
        with suppress(Exception):  # no answer, whatever it raises: the command's patience decides
            if not any(node["NodeID"] == here and node["Alive"] for node in ray.nodes()):
                command.send("down", "its node is gone")
                os._exit(1)
            command.send("beat")
        time.sleep(BEAT_SECONDS)


def _start(plan: RayPlan) -> None:
    """Connect to the cluster at `plan.address`, or start a private one on this machine, never joining one that happens
    to run. The command ends a private one, with all its processes. Raises SettingError (RAY_ADDRESS)."""
    if not plan.address:
        ray.init(
            address="local",
            num_cpus=plan.slots,
            num_gpus=plan.gpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=str(plan.scratch / "ray"),
            log_to_driver=False,
        )
        return
    code = {"py_modules": list(map(str, PACKAGES)), "excludes": ["**/__pycache__", "**/*.pyc"]}
    try:
        ray.init(
            address=plan.address,
            runtime_env={"env_vars": ENVIRONMENT | WORKER_ENVIRONMENT, **code},
            log_to_driver=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise SettingError(ADDRESS, plan.address, f"no Ray cluster there ({describe(error)})") from None


def _tuner(plan: RayPlan, command: Driver) -> tune.Tuner:
    return tune.Tuner(
        tune.with_resources(Trial, lambda job: tune.PlacementGroupFactory([{"CPU": 1, "GPU": job["gpu"]}])),
        tune_config=tune.TuneConfig(
            search_alg=Jobs(command),
            num_samples=-1,
            max_concurrent_trials=plan.slots,
            reuse_actors=True,
            trial_dirname_creator=lambda trial: trial.trial_id,
        ),
        run_config=tune.RunConfig(
            storage_path=str(plan.scratch / "tune"),
            verbose=0,
            stop=command.is_stopped,
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            callbacks=[command],
        ),
    )


class Trial(tune.Trainable):
    """Runs a trial in a thread; every step returns the messages since the last one."""

    def setup(self, config: dict) -> None:
        """See Ray, as for the other methods."""
        self._messages: queue.SimpleQueue = queue.SimpleQueue()
        self._failed = self._pause = False
        self._thread = threading.Thread(target=self._run, args=(config,), daemon=True)

    def reset_config(self, new_config: dict) -> bool:
        self.cleanup()
        self.setup(new_config)  # no more to reset: run_trial sets all of torch's global state at its start
        return True

    def step(self) -> dict:
        if self._failed:  # a CUDA error or an exhausted heap outlives the trial that met it
            raise RuntimeError("a process whose trial failed is not used again")
        if self._thread.ident is None:  # not in setup: Tune replaces a process that dies there, without a word
            self._thread.start()
        messages = [self._messages.get()]
        while not self._messages.empty():
            messages.append(self._messages.get())
        last = messages[-1]
        self._failed = isinstance(last, TrialOutcome) and last.state == "failed"
        return {"messages": messages, "done": isinstance(last, TrialOutcome) and not self._failed}

    def cleanup(self) -> None:
        self._pause = True
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self, config: dict) -> None:
        def post(event) -> bool:
            self._messages.put(event)
            return not self._pause

        self._messages.put(run_job(config["function"], config["job"], post))


class Jobs(tune.search.Searcher):
    """Where Tune asks for trials."""

    def __init__(self, command: Driver):
        super().__init__()
        self._command = command

    def suggest(self, trial_id: str) -> Any:
        config, is_over = self._command.ask("next", trial_id)
        return self.FINISHED if is_over else config  # None: Tune asks again

    def on_trial_complete(self, trial_id: str, result=None, error: bool = False) -> None:
        pass


def _check_nodes(plan: RayPlan) -> None:
    """Check that every node that can train sees the folders of the jobs, and has the store whole. Raises SettingError
    (GONN_HOME, RAY_ADDRESS)."""
    answers = []
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            check = ray.remote(node_problem).options(num_cpus=0, scheduling_strategy=here)
            answers.append(check.remote(plan.first, str(plan.scratch)))
    try:
        problems = [problem for problem in ray.get(answers) if problem is not None]
    except ray.exceptions.RayError as error:
        why = f"its nodes cannot run this code ({describe(error)})"
        raise SettingError(ADDRESS, str(plan.address), why) from None
    if problems:
        home, valid = str(Path(plan.first.run.runs).parent), "a folder that all nodes share under the same path"
        raise SettingError("GONN_HOME", home, problems[0], valid)
