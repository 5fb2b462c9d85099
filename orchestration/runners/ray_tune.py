"""The child process in which Ray runs: trials under Ray Tune on this machine or a cluster. The only module that imports
Ray.

Tune schedules trials and reuses their processes; it stores and restores nothing. The state of a trial is its directory,
so Ray's checkpoints, loggers and result folders are not used. All decisions are made by the command at the other end of
the pipe (`orchestration.runners.ray_runner`).
"""

import logging
import os
import queue
import secrets
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

from gonn_core.errors import SettingError, UserError
from gonn_core.trial.events import Finished
from orchestration.runners.base import WORKER_ENVIRONMENT, Outcome, describe, failure, load_function

ADDRESS = "RAY_ADDRESS"
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": "(?s).*",  # a dead worker is reported in one line, as an event
    "RAY_CHDIR_TO_TRIAL_DIR": "0",  # relative folders are relative to the command's
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # its handler waits for running trials to end
    "TUNE_GLOBAL_CHECKPOINT_S": "86400",
    "TUNE_WARN_THRESHOLD_S": "60",
}
"""Set before Ray is imported: no telemetry, no output, no files, no wait after Ctrl-C."""
OBJECT_STORE_BYTES = 80 * 2**20
"""Near the smallest that Ray accepts: only jobs and events are exchanged."""
BEAT_SECONDS = 2.0
"""How often the child asks Ray's head whether it answers."""
SILENCE_SECONDS = 30.0
"""Ray counts as dead when it has not answered for so long."""
START_SECONDS = 300
"""The same for a Ray that starts: a busy machine takes its time."""
CHECK_SECONDS = 1800
"""Patience with nodes that read a whole store."""
PACKAGES = ("gonn_core", "orchestration")
"""What a trial imports; only these are sent to the nodes of a cluster."""


@dataclass(frozen=True)
class Plan:
    """What the child is to do."""

    address: str | None
    """Of a cluster; None: a private one."""
    function: str
    slots: int | None
    """Trials at a time; None: as many as the cluster has cores for."""
    gpus: int
    """Of a private cluster."""
    runs: str
    store: str
    """Folders of the jobs."""
    scratch: Path
    environment: Mapping[str, str]
    """Of a private cluster: which GPUs its processes see."""


def serve(pipe, plan: Plan) -> None:
    """Main function of the child. It leads a session, out of reach of the terminal's signals, which the command
    handles; what Ray prints goes to a file."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(plan.scratch / "ray.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    threading.Thread(target=_end_with_command, args=(plan,), daemon=True).start()
    command = _Command(pipe)
    try:
        _run(plan, command)
        command.send("over")
    except UserError as error:
        command.send("refused", str(error))
    except Exception as error:  # any other is ours, and shown with its traceback
        command.send("broken", describe(error), traceback.format_exc())
    os._exit(0)  # the command ends what is left of Ray


class _Command:
    """The command at the other end of the pipe. Tune pickles everything it is given, for a restore that never comes."""

    def __getstate__(self):
        return {}

    def __init__(self, pipe):
        self._pipe, self._lock = pipe, threading.Lock()
        self.ended: set[str] = set()
        """Tune's ids of the trials whose outcome was sent."""

    def send(self, *message) -> None:
        """Send a message; nothing happens when the command has ended."""
        with self._lock, suppress(BrokenPipeError, ConnectionResetError):
            self._pipe.send(message)

    def ask(self, *message) -> Any:
        """The answer to a message; called from Tune's thread only."""
        self.send(*message)
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            os._exit(1)  # the command has ended


def _end_with_command(plan: Plan) -> None:
    """Kill all of Ray on this machine when the command has ended, killed or not: no worker may outlive it."""
    command = parent_process()
    assert command is not None, "the child has a command"
    connection.wait([command.sentinel])
    shutil.rmtree(plan.scratch, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def _run(plan: Plan, command: _Command) -> None:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with _cluster(plan, command):
        import ray
        from ray import tune

        threading.Thread(target=_beat, args=(command,), daemon=True).start()
        if plan.address:
            _check_nodes(plan)
        resources = ray.cluster_resources()
        command.send("up", int(resources.get("CPU", 1)), int(resources.get("GPU", 0)))
        try:
            tune.Tuner(
                tune.with_resources(_trainable(plan.function), _resources),
                tune_config=tune.TuneConfig(
                    search_alg=_searcher(command),
                    num_samples=-1,
                    max_concurrent_trials=plan.slots,
                    reuse_actors=True,
                    trial_name_creator=lambda trial: trial.trial_id,
                    trial_dirname_creator=lambda trial: trial.trial_id,
                ),
                run_config=tune.RunConfig(
                    name="study",
                    storage_path=str(plan.scratch / "tune"),
                    verbose=0,
                    stop=_stopper(command),
                    checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                    callbacks=[_callback(command)],
                ),
            ).fit()
        except Exception:
            _exit_unless_ray_works(command)
            raise


def _beat(command: _Command) -> None:
    """Report every few seconds that Ray's head answers and counts this node as alive. Tune itself waits for ever for a
    node that is gone."""
    import ray

    here = ray.get_runtime_context().get_node_id()
    while True:
        try:
            if any(node["NodeID"] == here and node["Alive"] for node in ray.nodes()):
                command.send("beat")
        except Exception as error:  # no answer, whatever it raises: the command's patience decides
            logging.getLogger(__name__).debug("no answer: %s", error)
        time.sleep(BEAT_SECONDS)


def _exit_unless_ray_works(command: _Command) -> None:
    """Leave when Ray does not run a task: an error, or the death of a worker, may be the first sign that Ray died."""
    import ray

    try:
        ray.get(ray.remote(num_cpus=0)(lambda: None).remote(), timeout=SILENCE_SECONDS)
    except Exception as error:  # whatever it raises, Ray is dead
        command.send("down", describe(error))
        os._exit(1)


def _resources(config: dict):
    """What a trial takes of a node: a core, and its share of a GPU."""
    from ray import tune

    return tune.PlacementGroupFactory([{"CPU": 1, **({"GPU": config["gpu"]} if config["gpu"] else {})}])


def _trainable(function: str):
    """The Trainable; made here because its base class is Ray's."""
    from ray import tune

    class Trial(tune.Trainable):
        """Runs a trial in a thread; every step returns the messages since the last one."""

        def setup(self, config):
            self._thread, self._failed = None, False

        def reset_config(self, new_config):
            self._join()
            return True  # no more to reset: run_trial sets all of torch's global state at its start

        def step(self):
            if self._failed:  # a CUDA error or an exhausted heap outlives the trial that met it
                raise RuntimeError("a process whose trial failed is not used again")
            if self._thread is None:
                self._messages: queue.SimpleQueue = queue.SimpleQueue()
                self._pause = False
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            messages = [self._messages.get()]
            while not self._messages.empty():
                messages.append(self._messages.get())
            last = messages[-1]
            self._failed = isinstance(last, Outcome) and last.state == "failed"
            return {"messages": messages, "done": isinstance(last, Outcome) and not self._failed}

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
            except Exception as error:  # any exception is the trial's outcome: the study continues
                outcome = failure(job, error)
            self._messages.put(outcome)

        def _post(self, event):
            if not isinstance(event, Finished):  # the command publishes it with the outcome
                self._messages.put(event)
            return not self._pause

    return Trial


def _searcher(command: _Command):
    """Where Tune asks for trials."""
    from ray import tune

    class Jobs(tune.search.Searcher):
        def suggest(self, trial_id):
            job, gpu, is_over = command.ask("next", trial_id)
            if job is None:
                return self.FINISHED if is_over else None  # None: Tune asks again
            return {"job": job, "gpu": gpu}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    return Jobs()


def _stopper(command: _Command):
    """Where results arrive first, and where a trial can be stopped."""
    from ray import tune

    class Stop(tune.Stopper):
        def __call__(self, trial_id, result):
            stop = command.ask("said", trial_id, result["messages"])
            if isinstance(result["messages"][-1], Outcome):
                command.ended.add(trial_id)
                return False  # `done` decides
            return stop

        def stop_all(self):
            return False

    return Stop()


def _callback(command: _Command):
    """Where starts and deaths of processes arrive."""
    from ray import tune

    class Processes(tune.Callback):
        def on_trial_start(self, iteration, trials, trial, **info):
            command.send("begun", trial.trial_id)

        def on_trial_error(self, iteration, trials, trial, **info):
            if trial.trial_id not in command.ended:
                _exit_unless_ray_works(command)
                command.send("died", trial.trial_id)

    return Processes()


@contextmanager
def _cluster(plan: Plan, command: _Command):
    """Ray, started privately on this machine (never joining a cluster that happens to run) or connected to
    `plan.address`. The command ends a private one, with all its processes. Raises SettingError (RAY_ADDRESS)."""
    if not plan.address:
        os.environ.update(WORKER_ENVIRONMENT)  # the private cluster's processes inherit all of these
        os.environ.update(plan.environment)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_root()), os.environ.get("PYTHONPATH")]))
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # on no disk
        # As on macOS: Ray takes 127.0.0.1 for this machine's address, so that nothing of it listens on a network.
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        os.environ |= {"RAY_process_group_cleanup_enabled": "0"}  # all in the child's process group
        os.environ |= {"RAY_worker_niceness": "0"}  # Ray's default is 15: next to any other program trials would starve
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", str(START_SECONDS))
    import ray

    logging.getLogger("ray").setLevel(logging.CRITICAL)
    common: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    if plan.address:
        variables = {"env_vars": {**ENVIRONMENT, **WORKER_ENVIRONMENT}}
        try:
            ray.init(address=plan.address, runtime_env={**variables, **shipped()}, **common)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise SettingError(ADDRESS, plan.address, f"no Ray cluster there ({describe(error)})") from None
        try:
            yield
        finally:
            ray.shutdown()
        return
    try:
        ray.init(
            address="local",
            num_cpus=plan.slots,
            num_gpus=plan.gpus,
            include_dashboard=False,
            object_store_memory=OBJECT_STORE_BYTES,
            _temp_dir=str(plan.scratch / "ray"),
            **common,
        )
    except Exception as error:  # Ray raises plain ones when it did not start in time
        command.send("down", describe(error))
        os._exit(1)
    yield


def _root() -> Path:
    return Path(__file__).resolve().parents[2]


def shipped() -> dict:
    """The part of a runtime environment that brings this code to the nodes of a cluster."""
    return {
        "py_modules": [str(_root() / name) for name in PACKAGES],
        "excludes": ["**/__pycache__", "**/*.pyc"],
    }


def _check_nodes(plan: Plan) -> None:
    """Check that every node that can train sees the folders of the jobs, and has the store whole. Raises SettingError
    (GONN_HOME, RAY_ADDRESS)."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    token = plan.scratch / "token"
    token.touch()
    answers = {}
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            check = ray.remote(node_problem).options(num_cpus=0, scheduling_strategy=here)
            name = f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})"
            answers[name] = check.remote(plan.runs, str(token), plan.store)
    for name, answer in answers.items():
        try:
            problem = ray.get(answer, timeout=CHECK_SECONDS)
        except ray.exceptions.RayError as error:
            address = ray.get_runtime_context().gcs_address
            raise SettingError(ADDRESS, address, f"its nodes cannot run this code ({describe(error)})") from None
        if problem is not None:
            home = str(Path(plan.runs).parent)
            valid = "a folder that all nodes share under the same path"
            raise SettingError("GONN_HOME", home, f"node {name} {problem}", valid)


def node_problem(runs: str, token: str, store: str) -> str | None:
    """Run on a node: why it cannot run trials with these folders; None when it can. The store is read and compared with
    its digest. token: a file of the command in `runs`."""
    from gonn_core.records.store import open_store

    try:
        if not Path(token).exists():
            return f"does not see the folder {runs} of this command"
        if not os.access(runs, os.W_OK):
            return f"cannot write to {runs}"
        opened = open_store(Path(store))
        if opened.digest != Path(store).name:
            return f"has store {opened.digest} in {store}"
    except UserError as error:
        return str(error)
    return None
