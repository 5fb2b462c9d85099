"""One session of training: from a new directory or a checkpoint to the last sample, or to a pause."""

import platform
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numba
import numpy as np
import torch

from gonn_core.config import canonical, numerics_of
from gonn_core.errors import Damaged, SettingError
from gonn_core.evaluation.derived import watched_means
from gonn_core.evaluation.evaluate import KeptPlanes, evaluate
from gonn_core.evaluation.metrics import Reading, weights_digest
from gonn_core.features.source import plane_source
from gonn_core.metrics import SUMMARISED
from gonn_core.nets import trainable_parameters
from gonn_core.settings.data import GamesConfig
from gonn_core.training.batches import Batch, PlaneMaker, extras_of, training_batches
from gonn_core.training.compiling import (
    check_compile,
    compiling_alone,
    describe_compiler,
    device_label,
    forget_compiled,
)
from gonn_core.training.cores import loader_threads
from gonn_core.training.environment import (
    choose_device,
    count_multiprocessors,
    describe_device,
    describe_processor,
    other_masks,
    reset_torch,
)
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from gonn_core.training.speed import synchronize
from gonn_core.trial import checkpoint
from gonn_core.trial.clock import Clock
from gonn_core.trial.data import TrialData, prepare_planes
from gonn_core.trial.directory import TrialDirectory, net_now
from gonn_core.trial.events import Changed, Compiling, Event, OnProgress, Point, Started, Tick
from gonn_core.trial.job import Job, progress_points, resumed_settings, snapshot_points
from gonn_core.trial.lease import Lease
from gonn_core.trial.memory import forget_peak, peak_memory
from gonn_core.trial.weights import start_weights

TICK_SECONDS = 1.0


class Session:
    """Trains a job in a directory under a lease. Made once per call of `run_trial`."""

    def __init__(self, job: Job, directory: TrialDirectory, lease: Lease, data: TrialData, on_progress: OnProgress):
        self.job, self.directory, self.lease, self.data, self.on_progress = job, directory, lease, data, on_progress
        recorded = self._recorded()
        self.settings = settings = resumed_settings(job.run, recorded)
        training = job.config.training
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
            forget_compiled()
        forget_peak(self.device)
        if job.config.data.games != GamesConfig():
            raise SettingError(
                "data.games",
                job.config.data.games.model_dump(exclude_defaults=True),
                "a study turns filters into a view; a trial has the view's digest alone",
                "no filter",
            )
        view = data.view(job.config.data.view)
        self._view = view
        # The curve is read over legal points where the policy is: a net trained on them alone learnt nothing of others.
        self._reading = Reading(legal_only=job.config.evaluation.legal_only)
        extras = extras_of(job.config)
        if self._reading.legal_only and "illegal" not in extras:
            extras = ("illegal", *extras)
        prepare_planes(job, data, self.device.type, self.loader_threads, on_progress)
        self.maker = PlaneMaker(
            data.store, job.config.features, self.device, MEMORY_FORMATS[settings.memory_format], extras
        )
        self._looked_at = KeptPlanes(self.maker)
        self.trainer = Trainer(
            job.config, len(view.rows), self.device, settings.memory_format, compile=settings.compile
        )
        self._progress_rows = None
        if settings.progress_view is not None:
            self._progress_rows = data.subset(
                settings.progress_view, settings.progress_positions, settings.progress_seed
            ).rows
        self._lines: list[dict] = []
        notes: dict = {}
        if directory.checkpoint.exists():
            state, notes = checkpoint.unpack(directory.checkpoint, job.id)
            self.trainer.load_state(state)
            self._lines = [line for line in directory.metrics() if line["samples"] <= self.trainer.samples]
        elif (start := start_weights(Path(settings.runs), job.config)) is not None:
            self.trainer.net.load_state_dict(start)  # with the planes' statistics that it was trained on
        elif self.trainer.net.normalise is not None:
            self.trainer.net.normalise.measure(job.config.features, plane_source(data.store), view.rows)
        self.clock = Clock(**notes, catch_up=partial(synchronize, self.device))
        self._record(recorded)

    def _recorded(self) -> dict | None:
        """config.json of an earlier session; None where it is damaged, of a trial that `mending` has looked at."""
        try:
            return self.directory.config()
        except Damaged:
            return None

    def _record(self, recorded: dict | None) -> None:
        """Write config.json with this session added, and forget an earlier failure."""
        settings = self.settings
        session = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "from_samples": self.trainer.samples,
            "device": describe_device(self.device),
            **count_multiprocessors(self.device),
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
        if (
            recorded is not None
            and self.trainer.samples
            and self.job.config.net.conv.dropout
            and (changed := other_masks(recorded["sessions"][-1], session))
        ):
            self._emit(Changed, message=changed)

    def train(self) -> bool:
        """Train to the last sample. Returns False when `on_progress` asked for a pause; a checkpoint then holds the
        state."""
        trainer, training = self.trainer, self.job.config.training
        self._emit(
            Started,
            device=device_label(describe_device(self.device), self.settings.compile),
            resumed=trainer.samples,
            training_seconds=self.clock.training_seconds,
        )
        self._next_tick = time.monotonic() + TICK_SECONDS
        next_checkpoint = time.monotonic() + self.settings.checkpoint_seconds
        first, stop = trainer.samples // training.batch_size, training.samples // training.batch_size
        batches = training_batches(self.job.config, self._view, self.maker, first, stop, self.loader_threads)
        warm = False
        try:
            for batch in batches:
                if not warm:
                    self._compile(batch)
                    warm = True
                self.clock.start_training()  # at the first batch: kernels may have been compiled for it
                self._go_on = True
                trainer.step(batch, self._part)
                go_on = self._go_on
                if trainer.samples in self._points:
                    go_on = self._point() and go_on
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
        if trainer.samples not in self.directory.snapshots():  # of a trial that goes on from its end: it was damaged
            self._snapshot()
        self._checkpoint()
        self.clock.stop_training()
        return True

    def _compile(self, batch: Batch) -> None:
        """Compile what the job asks to compile, before the first step."""
        if self.settings.compile != "none":
            self._emit(Compiling)
            with compiling_alone(self.job.config, self.device.type):
                self.trainer.warm_up(batch)

    def result(self, digest: str) -> dict:
        """What result.json says of the finished trial: `digest` of its weights, its last line of metrics, times."""
        last = self._lines[-1]
        return {
            "id": self.job.id,
            "samples": self.trainer.samples,
            "weights": digest,
            "parameters": trainable_parameters(self.trainer.net),
            **{name: last[name] for name in (*SUMMARISED, "train_nats", "looks") if name in last},
            **{name: value for name, value in last.items() if name.startswith("train_")},
            **self.clock.seconds(),
            **self.clock.split(),
            "samples_per_s": self.trainer.samples / self.clock.seconds()["training_seconds"],
            "device": describe_device(self.device),
            **({"peak_bytes": peak} if (peak := peak_memory(self.device)) else {}),
        }

    def weights(self) -> str:
        """Digest of the weights that a snapshot would hold now."""
        return weights_digest(self.trainer.evaluated_net.state_dict())

    def _emit(self, kind: type[Event], **values) -> bool:
        """Pass an event on; returns False when a pause was asked for."""
        nats = self._lines[-1].get("nats") if self._lines else None
        total = self.job.config.training.samples
        return self.on_progress(kind(self.job.id, self.trainer.samples, total, nats, **values)) is not False

    def _rate(self, samples: float) -> float:
        """Samples per second of training since the last line, of which so many were done by now."""
        last = self._lines[-1] if self._lines else {"samples": 0, "training_seconds": 0.0}
        return (samples - last["samples"]) / max(self.clock.training_seconds - last["training_seconds"], 1e-9)

    def _point(self) -> bool:
        """A line of metrics: written before any checkpoint at this sample count or later, so that none is ever
        missing."""
        trainer = self.trainer
        line = {"samples": trainer.samples, "train_nats": trainer.train_nats()}
        if (loss := trainer.train_loss()) is not None:
            line["train_loss"] = loss
        line |= {f"train_{name}": mean for name, mean in trainer.train_means().items()}
        with self.clock.aside():
            evaluations = self._lines[-1]["looks"] if self._lines else 0
            if self._progress_rows is not None and trainer.samples in self._looks:
                line |= self._look(self._progress_rows)
                evaluations += 1
            line |= {"learning_rate": trainer.rate, "looks": evaluations}
            line |= {"samples_per_s": self._rate(trainer.samples), **self.clock.seconds()}
            trainer.forget_loss()
            self._next_tick = time.monotonic() + TICK_SECONDS  # this tells everything
            self._lines.append(line)
            self.directory.write_metrics(self._lines, self.lease)
            return self._emit(
                Point,
                samples_per_s=line["samples_per_s"],
                train_nats=line["train_nats"],
                training_seconds=line["training_seconds"],
            )

    def _look(self, rows: np.ndarray) -> dict[str, float]:
        """Metrics at validation, in the precision that the trial trains in."""
        threads, precision = self.loader_threads, self.job.config.training.precision
        with self.clock.looking():
            net, maker = self.trainer.evaluated_net, self._looked_at
            scores = evaluate(net, maker, rows, "full", threads, None, self._reading, precision)
        return scores.means() | watched_means(scores)

    def _part(self, done: int) -> None:
        """So many parts of the running step are done: a step of many parts may take minutes."""
        if time.monotonic() >= self._next_tick:
            self._go_on = self._tick(done) and self._go_on

    def _tick(self, parts: int = 0) -> bool:
        """parts: of the running step, done."""
        training = self.job.config.training
        step = self.trainer.samples // training.batch_size + parts / training.batch_splits
        rate = self._rate(step * training.batch_size)
        if not rate:
            return True  # a point has just told everything
        left = (training.samples - step * training.batch_size) / rate
        self._next_tick = time.monotonic() + TICK_SECONDS
        return self._emit(
            Tick,
            samples_per_s=rate,
            train_nats=self.trainer.train_nats(),
            seconds_left=left,
            training_seconds=self.clock.training_seconds,
            step=step,
            steps=training.samples // training.batch_size,
        )

    def _snapshot(self) -> None:
        with self.clock.aside():
            state = self.trainer.evaluated_net.state_dict()
            notes = {"samples": self.trainer.samples, "weights": weights_digest(state)}
            self.directory.write(
                f"snapshots/{self.trainer.samples}.safetensors", checkpoint.pack(self.job.id, state, notes), self.lease
            )

    def _checkpoint(self) -> None:
        with self.clock.aside():
            self.trainer.check_finite()  # weights that are no numbers must not replace those that are
            data = checkpoint.pack(self.job.id, self.trainer.state(), self.clock.seconds() | self.clock.split())
            self.directory.write(self.directory.checkpoint.name, data, self.lease)
