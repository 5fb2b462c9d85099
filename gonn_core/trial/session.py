"""One session of training: from a new directory or a checkpoint to the last sample, or to a pause."""

import platform
import time
from collections.abc import Callable
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numba
import numpy as np
import torch

from gonn_core.config import canonical, numerics_of
from gonn_core.errors import Damaged, SettingError
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.evaluation.metrics import Reading, watched_means, weights_digest
from gonn_core.features.source import plane_source
from gonn_core.metrics import SUMMARISED
from gonn_core.nets import trainable_parameters
from gonn_core.records.views import subset
from gonn_core.settings.data import GamesConfig
from gonn_core.training.batches import PlaneMaker, extras_of, training_batches
from gonn_core.training.compiling import check_compile, compiling_alone, describe_compiler, device_label
from gonn_core.training.environment import (
    choose_device,
    describe_device,
    describe_processor,
    forget_peak,
    peak_memory,
    reset_torch,
    synchronize,
)
from gonn_core.training.host import loader_threads
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from gonn_core.trial.data import TrialData, prepare_planes
from gonn_core.trial.directory import TrialDirectory, net_now
from gonn_core.trial.events import TICK_SECONDS, Compiling, Event, OnProgress, Point, Started, Tick
from gonn_core.trial.job import Job, progress_points, resumed_settings, snapshot_points
from gonn_core.trial.lease import Lease
from gonn_core.trial.weights import pack, start_weights, unpack


class Clock:
    """Wall time, CPU time of this process (all its threads), and wall time inside training steps, over all sessions of
    a trial. catch_up: waits for the steps that a device has still to do, so that they count as training."""

    def __init__(self, earlier: dict[str, float], catch_up: Callable[[], object] = lambda: None):
        self._catch_up = catch_up
        self._wall = time.perf_counter() - earlier.get("wall_seconds", 0.0)
        self._cpu = time.process_time() - earlier.get("cpu_seconds", 0.0)
        self._training = earlier.get("training_seconds", 0.0)
        self._since: float | None = None

    def start_training(self) -> None:
        """Steps begin now; does nothing when they are under way."""
        if self._since is None:
            self._since = time.perf_counter()

    def stop_training(self) -> None:
        """Steps have ended; does nothing when none were under way."""
        if self._since is not None:
            self._catch_up()
        self._training, self._since = self.training_seconds, None

    @contextmanager
    def aside(self):
        """Within this, time is not training time."""
        self.stop_training()
        yield
        self.start_training()

    @property
    def training_seconds(self) -> float:
        """Wall seconds in steps so far."""
        return self._training + (time.perf_counter() - self._since if self._since is not None else 0.0)

    def seconds(self) -> dict[str, float]:
        """wall_seconds, cpu_seconds, training_seconds."""
        return {
            "wall_seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "training_seconds": self.training_seconds,
        }


class Session:
    """Trains a job in a directory under a lease. Made once per call of `run_trial`."""

    def __init__(self, job: Job, directory: TrialDirectory, lease: Lease, data: TrialData, on_progress: OnProgress):
        self.job, self.directory, self.lease, self.on_progress = job, directory, lease, on_progress
        try:
            recorded = directory.config()
        except Damaged:  # `mending` has reported it; it is rewritten below
            recorded = None
        self.settings = settings = resumed_settings(job.run, recorded)
        config, training = job.config, job.config.training
        requested = [*settings.snapshots, *(request.samples for request in settings.evaluations if request.samples)]
        for count in requested:
            if count > training.samples:
                raise SettingError("snapshots", count, "beyond the last sample", f"up to {training.samples}")
        points = progress_points(training.samples, training.batch_size, settings.progress_points)
        self._points, self._looks = set(points), set(points[:: -settings.look_every])
        self._snapshots = set(snapshot_points(training.samples, training.batch_size, requested))
        self.device = choose_device(settings.device)
        check_compile(settings.compile, self.device.type)
        self.loader_threads = loader_threads(settings.loader_threads, self.device.type)
        reset_torch(settings.threads, self.device)
        if settings.compile != "none":
            torch.compiler.reset()  # drop what this process compiled for other nets
        forget_peak(self.device)
        if config.data.games != GamesConfig():
            raise SettingError(
                "data.games",
                config.data.games.model_dump(exclude_defaults=True),
                "a study turns filters into a view; a trial has the view's digest alone",
                "no filter",
            )
        self._view = data.view(config.data.view)
        # The curve is read over legal points where the policy is: a net trained on them alone learnt nothing of others.
        self._reading = Reading(legal_only=config.evaluation.legal_only)
        extras = extras_of(config)
        if self._reading.legal_only and "illegal" not in extras:
            extras = ("illegal", *extras)
        prepare_planes(job, data, self.device.type, self.loader_threads, on_progress)
        self.maker = PlaneMaker(
            data.store, config.features, self.device, MEMORY_FORMATS[settings.memory_format], extras
        )
        self.trainer = Trainer(
            config, len(self._view.rows), self.device, settings.memory_format, compile=settings.compile
        )
        self._progress_rows = None
        if settings.progress_view is not None:
            looked_at = data.view(settings.progress_view)
            self._progress_rows = subset(looked_at, settings.progress_positions, settings.progress_seed).rows
        self._lines: list[dict] = []
        notes: dict = {}
        if directory.checkpoint.exists():
            state, notes = unpack(directory.checkpoint, job.id)
            self.trainer.load_state(state)
            self._lines = [line for line in directory.metrics() if line["samples"] <= self.trainer.samples]
        elif (start := start_weights(Path(settings.runs), config)) is not None:
            self.trainer.start_from(start)
        elif self.trainer.net.normalise is not None:
            self.trainer.net.normalise.measure(config.features, plane_source(data.store), self._view.rows)
        self.clock = Clock(notes, catch_up=partial(synchronize, self.device))
        self._record(recorded)

    def _record(self, recorded: dict | None) -> None:
        """Write config.json with this session added, and forget an earlier failure."""
        settings = self.settings
        session = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "from_samples": self.trainer.samples,
            "device": describe_device(self.device),
            "processor": describe_processor(),
            "threads": settings.threads,
            "loader_threads": self.loader_threads,
            "memory_format": settings.memory_format,
            "compile": settings.compile,
            **({"compiler": describe_compiler(self.device.type)} if settings.compile != "none" else {}),
            "commit": settings.commit,
            "dirty": settings.dirty,
            "versions": {
                "python": platform.python_version(),
                "torch": torch.__version__,
                "numpy": np.__version__,
                "numba": numba.__version__,
            },
        }
        tree = {
            "id": self.job.id,
            "canonical": canonical(self.job.config),
            "config": self.job.config.model_dump(mode="json"),
            "numerics": numerics_of(self.job.config),
            "net": net_now(self.job.config).model_dump(mode="json"),
            "run": settings.model_dump(mode="json"),
            "labels": recorded["labels"] if recorded else self.job.labels,
            "sessions": [*(recorded["sessions"] if recorded else []), session],
        }
        self.directory.write_json("config.json", tree, self.lease)
        self.directory.remove("failure.json", self.lease)

    def train(self) -> bool:
        """Train to the last sample. Returns False when `on_progress` asked for a pause; a checkpoint then holds the
        state."""
        trainer, training = self.trainer, self.job.config.training
        device = device_label(describe_device(self.device), self.settings.compile)
        seconds = self.clock.training_seconds
        self._emit(Started, device=device, resumed=trainer.samples, training_seconds=seconds)
        self._next_tick = time.monotonic() + TICK_SECONDS
        next_checkpoint = time.monotonic() + self.settings.checkpoint_seconds
        first, stop = trainer.samples // training.batch_size, training.samples // training.batch_size
        batches = training_batches(self.job.config, self._view, self.maker, first, stop, self.loader_threads)
        is_compiled = self.settings.compile == "none"
        try:
            for batch in batches:
                if not is_compiled:
                    self._emit(Compiling)
                    with compiling_alone(self.job.config, self.device.type):
                        trainer.warm_up(batch)
                    is_compiled = True
                self.clock.start_training()  # at the first batch: kernels may have been compiled for it
                trainer.step(batch)
                go_on = True
                if trainer.samples in self._points:
                    go_on = self._point()
                if trainer.samples in self._snapshots:
                    self._snapshot()
                if time.monotonic() >= self._next_tick:
                    go_on = self._tick() and go_on
                if trainer.samples == training.samples:
                    break
                if not go_on or time.monotonic() >= next_checkpoint:
                    self._checkpoint()
                    next_checkpoint = time.monotonic() + self.settings.checkpoint_seconds
                if not go_on:
                    return False
        finally:
            batches.close()
        if trainer.samples not in self.directory.snapshots():  # it was damaged, and the checkpoint is of the end
            self._snapshot()
        self._checkpoint()
        self.clock.stop_training()
        return True

    def result(self) -> dict:
        """The content of result.json of the finished trial: digest of its weights, its last line of metrics, times."""
        last, seconds = self._lines[-1], self.clock.seconds()
        return {
            "id": self.job.id,
            "samples": self.trainer.samples,
            "weights": weights_digest(self.trainer.evaluated_net.state_dict()),
            "parameters": trainable_parameters(self.trainer.net),
            **{name: last[name] for name in (*SUMMARISED, "looks") if name in last},
            **{name: value for name, value in last.items() if name.startswith("train_")},
            **seconds,
            "samples_per_s": self.trainer.samples / seconds["training_seconds"],
            "device": describe_device(self.device),
            **({"peak_bytes": peak} if (peak := peak_memory(self.device)) else {}),
        }

    def _emit(self, kind: type[Event], **values) -> bool:
        """Pass an event on; returns False when a pause was asked for."""
        nats = self._lines[-1].get("nats") if self._lines else None
        total = self.job.config.training.samples
        return self.on_progress(kind(self.job.id, self.trainer.samples, total, nats, **values)) is not False

    def _rate(self) -> float:
        """Samples per second of training since the last line."""
        last = self._lines[-1] if self._lines else {"samples": 0, "training_seconds": 0.0}
        seconds = self.clock.training_seconds - last["training_seconds"]
        return (self.trainer.samples - last["samples"]) / max(seconds, 1e-9)

    def _point(self) -> bool:
        """A line of metrics: written before any checkpoint at this sample count or later, so that none is ever
        missing."""
        trainer = self.trainer
        means = {f"train_{name}": mean for name, mean in trainer.train_means().items()}
        line = {"samples": trainer.samples, **means}
        with self.clock.aside():
            looks = self._lines[-1]["looks"] if self._lines else 0
            if self._progress_rows is not None and trainer.samples in self._looks:
                scores = evaluate(
                    trainer.evaluated_net,
                    self.maker,
                    self._progress_rows,
                    "full",
                    self.loader_threads,
                    reading=self._reading,
                    precision=self.job.config.training.precision,
                )
                line |= scores.means() | watched_means(scores)
                looks += 1
            line |= {"learning_rate": trainer.rate, "looks": looks}
            line |= {"samples_per_s": self._rate(), **self.clock.seconds()}
            trainer.forget_loss()
            self._next_tick = time.monotonic() + TICK_SECONDS  # the event below replaces it
            self._lines.append(line)
            self.directory.write_metrics(self._lines, self.lease)
            shown = {name: line[name] for name in ("samples_per_s", "train_nats", "training_seconds")}
            return self._emit(Point, **shown)

    def _tick(self) -> bool:
        rate = self._rate()
        if not rate:
            return True  # a point has just been reported
        self._next_tick = time.monotonic() + TICK_SECONDS
        return self._emit(
            Tick,
            samples_per_s=rate,
            train_nats=self.trainer.train_means()["nats"],
            seconds_left=(self.job.config.training.samples - self.trainer.samples) / rate,
            training_seconds=self.clock.training_seconds,
        )

    def _snapshot(self) -> None:
        with self.clock.aside():
            state = self.trainer.evaluated_net.state_dict()
            data = pack(self.job.id, state, {"samples": self.trainer.samples, "weights": weights_digest(state)})
            self.directory.write(f"snapshots/{self.trainer.samples}.safetensors", data, self.lease)

    def _checkpoint(self) -> None:
        with self.clock.aside():
            self.trainer.train_means()  # raises: weights that are not finite must not replace those that are
            data = pack(self.job.id, self.trainer.state(), self.clock.seconds())
            self.directory.write(self.directory.checkpoint.name, data, self.lease)
