"""Ray's process: trials under Ray Tune on this machine's cores, fractions of its GPUs, or a cluster. The only module
that imports Ray.

Tune schedules trials, reuses their processes and passes on what they say; it stores and restores nothing. The state of
a trial is its directory, so Ray's own checkpoints, loggers and result folders stay unused. Everything is decided by the
command, at the other end of a pipe (`orchestration.runners.ray_runner`).
"""

import logging
import os
import queue
import secrets
import shutil
import signal
import sys
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from multiprocessing import connection, parent_process
from pathlib import Path
from typing import Any

from gonn_core.errors import SettingError, UserError
from gonn_core.trial.events import Finished
from orchestration.runners.base import ATTEMPTS, WORKER_ENVIRONMENT, Outcome, describe, failure, load_function
from orchestration.runners.ray_cluster import CHECK_SECONDS, SETTING, check_nodes, node_problem, shipped, token_in
from orchestration.runners.ray_link import (
    Beat,
    Broken,
    Call,
    Down,
    NotStarted,
    Over,
    Plan,
    Refused,
    Up,
    how_it_ended,
)
from orchestration.runners.ray_session import end_session

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

_OBJECT_STORE_BYTES = (
    80 * 2**20
)  # near the smallest that Ray accepts: trials exchange nothing but their jobs and events
LOOK_SECONDS = 0.5
"""How often Ray's processes are looked at."""
BEAT_SECONDS = 2.0
"""How often Ray is asked something."""


def serve(pipe, plan: Plan) -> None:
    """The life of Ray's process. It leads a session of its own, out of reach of the terminal's signals, which the
    command hears; what Ray writes on its own account goes to a file."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the command's wish; a shell may have had it ignored
    log = os.open(plan.folder / "ray.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    threading.Thread(target=_end_with_command, args=(plan,), daemon=True).start()
    driver = _Driver(pipe)
    try:
        _run(plan, driver)
        driver.tell(Over())
    except KeyboardInterrupt:
        pass  # a cluster was left
    except UserError as error:
        driver.tell(Refused(str(error)))
    except _NotStarted as error:
        driver.tell(NotStarted(str(error)))
    except Exception as error:
        driver.tell(Broken(describe(error), traceback.format_exc()))
    os._exit(0)  # the command ends what is left of Ray


class _NotStarted(Exception):
    """A private Ray did not start."""


class _Unwritten:
    """Tune writes everything it is given to disk, for a restore that never comes."""

    def __getstate__(self):
        return {}


class _Driver(_Unwritten):
    """The command, as Ray's process sees it."""

    def __init__(self, pipe):
        self._pipe, self._lock = pipe, threading.Lock()

    def tell(self, message) -> None:
        """Say something; nothing when nobody listens any more."""
        with self._lock, suppress(BrokenPipeError, ConnectionResetError):
            self._pipe.send(message)

    def call(self, method: str, *arguments) -> Any:
        """What a method of the command's `RayStudy` returns; from Tune's thread alone."""
        self.tell(Call(method, arguments))
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            os._exit(1)  # the command is gone


def _end_with_command(plan: Plan) -> None:
    """Take Ray along when the command is gone, killed or not: no worker may outlive it."""
    command = parent_process()
    assert command is not None, "Ray's process has a command"
    connection.wait([command.sentinel])
    end_session(os.getpid(), but=os.getpid())
    shutil.rmtree(plan.folder, ignore_errors=True)
    os._exit(1)


def _run(plan: Plan, driver: _Driver) -> None:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with _cluster(plan), _Watch(driver, private=plan.address is None) as watch:
        import ray
        from ray import tune

        if plan.address:
            _check_cluster(plan)
        resources = ray.cluster_resources()
        driver.tell(Up(int(resources.get("CPU", 1)), int(resources.get("GPU", 0))))
        try:
            tune.Tuner(
                tune.with_resources(
                    _trainable(plan.function),
                    _resources,
                ),
                tune_config=tune.TuneConfig(
                    search_alg=_searcher(driver),
                    num_samples=-1,
                    max_concurrent_trials=plan.slots if plan.address else plan.where.most,
                    reuse_actors=True,
                    trial_name_creator=lambda trial: trial.trial_id,
                    trial_dirname_creator=lambda trial: trial.trial_id,
                ),
                run_config=tune.RunConfig(
                    name="study",
                    storage_path=str(plan.folder / "tune"),
                    verbose=0,
                    stop=_stopper(driver),
                    checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                    failure_config=tune.FailureConfig(max_failures=ATTEMPTS - 1),
                    callbacks=[_callback(driver, watch)],
                ),
            ).fit()
        except Exception as error:
            watch.wait_if_down()
            if isinstance(error, ray.exceptions.RaySystemError | ConnectionError):
                driver.tell(Down(describe(error)))
                _wait_for_the_end()
            raise


def _wait_for_the_end() -> None:
    """Ray is dead, the command has been told, and ends this process."""
    while True:
        time.sleep(60)


class _Watch(_Unwritten):
    """While entered: tells the command that Ray answers, or that it is dead. Tune itself notices the death of
    trials' processes alone, and waits for ever for a node that is gone."""

    def __init__(self, driver: _Driver, private: bool):
        self._driver, self._private = driver, private
        self._down, self._over = threading.Event(), threading.Event()

    def __enter__(self) -> "_Watch":
        import ray

        self._here = ray.get_runtime_context().get_node_id()
        threading.Thread(target=self._processes, daemon=True).start()
        threading.Thread(target=self._beats, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._over.set()

    def wait_if_down(self) -> None:
        """Whoever meets an error or a dead worker asks whether Ray died before it says so; does not return if it
        did."""
        if self._down.wait(2 * LOOK_SECONDS):
            _wait_for_the_end()

    def _say(self, why: str) -> None:
        if not self._over.is_set() and not self._down.is_set():
            self._down.set()
            self._driver.tell(Down(why))

    def _processes(self) -> None:
        """A private cluster's own processes, which this one started."""
        from ray._private import worker

        node: Any = worker._global_node  # Ray's own handle on what it started
        while self._private and not self._over.wait(LOOK_SECONDS):
            for kind, started in list(node.all_processes.items()):
                for each in started:
                    if kind in ("raylet", "gcs_server") and each.process.poll() is not None:
                        self._say(f"its {kind} {how_it_ended(each.process.returncode)}")
                        return

    def _beats(self) -> None:
        """Asks Ray's head something; the command counts how long there was no answer."""
        import ray

        while True:
            try:
                nodes = {node["NodeID"]: node["Alive"] for node in ray.nodes()}
            except Exception as error:  # whatever it raises, it is no answer: the command's patience decides
                logging.getLogger(__name__).debug("no answer: %s", error)
            else:
                if not nodes.get(self._here):
                    self._say("this machine's node is dead")
                    return
                self._driver.tell(Beat())
            if self._over.wait(BEAT_SECONDS):
                return


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


def _searcher(driver: _Driver):
    """What Tune asks for trials: hands out jobs in order, when there is room for one."""
    from ray import tune

    class Jobs(tune.search.Searcher):
        def suggest(self, trial_id):
            found = driver.call("next_job", trial_id)
            if found.job is None:
                return self.FINISHED if found.over else None  # None: Tune asks again
            return {"job": found.job, "gpu": found.gpu}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    return Jobs()


def _stopper(driver: _Driver):
    """Where results arrive first, and where a trial can be stopped."""
    from ray import tune

    class Stop(tune.Stopper):
        def __call__(self, trial_id, result):
            return driver.call("hear", trial_id, result["messages"])

        def stop_all(self):
            return False

    return Stop()


def _callback(driver: _Driver, watch: _Watch):
    """Where starts and deaths of processes arrive."""
    from ray import tune

    class Processes(tune.Callback):
        def on_trial_start(self, iteration, trials, trial, **info):
            driver.call("begun", trial.trial_id)

        def on_trial_recover(self, iteration, trials, trial, **info):
            watch.wait_if_down()
            driver.call("died", trial.trial_id, False)

        def on_trial_error(self, iteration, trials, trial, **info):
            watch.wait_if_down()
            driver.call("died", trial.trial_id, True)

    return Processes()


def _check_cluster(plan: Plan) -> None:
    """That every node that can train sees the folders of the jobs, and has the store whole. Raises SettingError."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    runs, store = Path(plan.runs), Path(plan.store)
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


@contextmanager
def _cluster(plan: Plan):
    """Ray, started privately on this machine (never joining a cluster that happens to run) or connected to
    `plan.address`. A private one is ended by the command, with all its processes."""
    root = str(Path(__file__).resolve().parents[2])
    if not plan.address:  # what the private cluster's processes inherit
        os.environ.update(WORKER_ENVIRONMENT)
        os.environ.update(plan.environment)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
        os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # on no disk
        # As on macOS: Ray takes 127.0.0.1 for this machine's address, so that nothing of it listens on a network.
        os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
        os.environ |= {"RAY_worker_niceness": "0"}  # Ray's own is 15: beside anything else, trials would starve
        os.environ.setdefault("RAY_gcs_server_port_wait_time_s", str(plan.start_seconds))
    import ray

    logging.getLogger("ray").setLevel(logging.CRITICAL)
    common: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    if plan.address:
        try:
            ray.init(
                address=plan.address,
                runtime_env={"env_vars": {**_ENVIRONMENT, **WORKER_ENVIRONMENT}, **shipped()},
                **common,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise SettingError(SETTING, plan.address, f"no Ray cluster there ({describe(error)})") from None
        try:
            yield
        finally:
            ray.shutdown()
        return
    try:
        ray.init(
            address="local",
            num_cpus=plan.where.most,
            num_gpus=len(plan.where.gpus),
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE_BYTES,
            _temp_dir=str(plan.folder / "ray"),
            **common,
        )
    except Exception as error:  # Ray raises plain ones when it did not start in time
        raise _NotStarted(describe(error)) from error
    yield
