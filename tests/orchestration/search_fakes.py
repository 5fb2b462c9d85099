"""A runner whose trials follow a known curve of nats over learning rate, point by point, several at a time."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ablations.search import PRUNING, Search, search_id
from gonn_core.config import TrialConfig, with_values
from gonn_core.evaluation.metrics import Reading
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings
from orchestration.runners.base import TrialOutcome, ended
from tests.orchestration.fakes import progress_line, write_evaluation
from tests.trial.events import event

BEST, BOTTOM = 0.1, 3.0
DIVERGES = 0.6
POINTS = 12
VALIDATION = EvaluationRequest(split="validation", view="0" * 20, minimum_positions=100)


def made_search(trials: int = 20, **changes) -> Search:
    """A search around the base rate 0.064, whose optimum is at BEST."""
    config = with_values(
        TrialConfig(),
        {"training.samples": 1200, "training.batch_size": 10, "training.init_seed": 1000, "training.data_seed": 1000},
    )
    decided = {
        "config": config,
        "validation": VALIDATION,
        "pruning": PRUNING,
        "rates": (0.01, 1.0),
        "trials": trials,
        "seed": 1000,
        **changes,
    }
    identity = search_id("gonn-b5", "smoke", "starter", decided)
    words = {
        "title": "gonn-b5",
        "base": "gonn-b5",
        "budget": "smoke",
        "data": "starter",
        "coverage": "starter",
        "created": "2026-01-02T03:04:05+00:00",
    }
    return Search(id=identity, **decided, **words, commit="abc", dirty=False)


def settings(runs: Path) -> RunSettings:
    return RunSettings(runs=str(runs), store="", device="cpu", evaluations=(VALIDATION,))


def level(job: Job, samples: int) -> float:
    """The known curve with a little noise of the rate's own; every trial starts at 6 nats."""
    rate, total = job.config.training.optimiser.learning_rate, job.config.training.samples
    noise = 0.004 * np.random.default_rng(round(1e6 * rate)).standard_normal()
    final = BOTTOM + 0.05 * math.log(rate / BEST) ** 2 + noise
    return 6 - (6 - final) * samples / total


@dataclass
class FakeRunner:
    """Keeps `slots` trials going, a point of each in turn; writes what a trial directory holds that a search reads."""

    slots: int = 2
    kill_after: int | None = None
    """Points after which the command is killed."""
    breaks: tuple[str, ...] = ()
    """Trials by the order of their beginning ("0") that fail for no fault of their rate."""
    ran: list[float] = field(default_factory=list)
    """Rates in the order of their beginning."""
    most: int = 0
    """Most trials at a time."""
    told: int = 0

    def run(self, jobs, slots, on_event):
        source, active, outcomes = iter(jobs), {}, {}
        while True:
            while len(active) < self.slots and (job := next(source, None)):
                self.ran.append(job.config.training.optimiser.learning_rate)
                active[job.id] = self._trial(job, on_event, str(len(self.ran) - 1))
                outcomes[job.id] = None
            self.most = max(self.most, len(active))
            if not active:
                return list(outcomes.values())
            for name, steps in list(active.items()):
                if (outcome := next(steps)) is not None:
                    del active[name]
                    outcomes[name] = outcome

    def _trial(self, job: Job, on_event, order: str):
        folder, total = Path(job.run.runs) / job.id, job.config.training.samples
        (folder / "eval").mkdir(parents=True, exist_ok=True)
        lines = (
            [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
            if (folder / "metrics.jsonl").exists()
            else []
        )
        outcome = TrialOutcome(job.id, "done")
        for index in range(len(lines) + 1, POINTS + 1):
            if self.told == self.kill_after:
                raise KeyboardInterrupt
            self.told += 1
            if order in self.breaks:
                outcome = TrialOutcome(job.id, "failed", "RuntimeError: the cable is out")
                break
            if job.config.training.optimiser.learning_rate > DIVERGES and index == 3:
                outcome = TrialOutcome(
                    job.id, "failed", "Diverged: training loss is nan at 300 samples (learning rate 0.9)"
                )
                break
            samples = total * index // POINTS
            line = progress_line(samples) | {"nats": level(job, samples), "looks": index}
            lines.append(line)
            (folder / "metrics.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
            if on_event(event("point", job.id, samples, total, line["nats"], 50.0)) is False:
                outcome = TrialOutcome(job.id, "paused")
                break
            yield None
        if outcome.state == "done":
            self._finish(job, folder)
        on_event(ended(job, outcome))
        yield outcome

    def _finish(self, job: Job, folder: Path) -> None:
        asked = VALIDATION.model_dump(exclude=set(Reading._fields)) | {
            "symmetry_averaging": False,
            "samples": job.config.training.samples,
        }
        nats = level(job, asked["samples"])
        values = {"samples": asked["samples"], "nats": nats, "requests": [asked], "weights": "0" * 16}
        write_evaluation(folder, split="validation", **values)
        result = {
            "format": 1,
            "id": job.id,
            "samples": asked["samples"],
            "weights": "0" * 16,
            "parameters": 1,
            "samples_per_s": 50.0,
        }
        (folder / "result.json").write_text(json.dumps(result))
