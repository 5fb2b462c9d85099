"""Does a learning-rate search find a rate as good as the best of a grid? Trains both and prints one table.

    python -m benchmarks.search [--samples 9600] [--positions 4096] [--points 9] [--seeds 3] [--trials 16] [--slots 2]
    [--out FOLDER]

Net gonn-b5 under the `cpu` budget with fewer samples, on the bundled games. Baseline in the same run: a logarithmic
grid over the range that is searched, with seeds that the search does not use. All are judged by the same validation
positions; test is not looked at. The work goes to the workspace (GONN_HOME): after a kill the same command resumes, and
run again it only prints.
"""

import argparse
import math
import shutil
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.data.datasets import load_dataset
from ablations.data.schema import with_view
from ablations.designs import budget_config
from ablations.registry import load_registry
from ablations.search import Search, rate_range, rounded
from ablations.study import seeded
from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation
from gonn_core.trial.events import Event, Failed, Finished, Retried
from gonn_core.trial.job import Job, RunSettings
from orchestration.data import prepare_shown
from orchestration.experiment.pipeline import Execution, carry_out, is_complete
from orchestration.experiment.settings import warm_kernels
from orchestration.runners.local import LocalRunner
from orchestration.search.planning import SearchRequest, Target, search_of
from reports.search.page import SearchFiles
from reports.search.report import SearchReport
from reports.workspace import Workspace

BASE, MARGIN = "gonn-b5", 0.01
"""MARGIN: nats by which the search's choice may be worse than the grid's best, if seed noise is less."""


@dataclass(frozen=True)
class Level:
    """Validation nats of one rate, by seed."""

    rate: float
    nats: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Infinite where a seed diverged."""
        return statistics.fmean(self.nats)

    @property
    def sd(self) -> float:
        """Between seeds; no number where a seed diverged."""
        return statistics.stdev(self.nats) if math.isfinite(self.mean) else math.nan


def grid(low: float, high: float, points: int) -> list[float]:
    """`points` rates from low to high, evenly spread on a logarithmic scale, with 3 digits."""
    return [rounded(low * (high / low) ** (index / (points - 1))) for index in range(points)]


def jobs_at(search: Search, settings: RunSettings, rates: Sequence[float], seeds: Sequence[int]) -> list[Job]:
    """The trials of a comparison of rates."""
    return [
        Job(config=seeded(search.at(rate), seed), run=settings, labels={"rate": f"{rate:g}", "seed": str(seed)})
        for seed in seeds
        for rate in rates
    ]


def train(jobs: Sequence[Job], slots: int) -> None:
    """Bring trials to their end, telling each; diverged ones are an answer too."""
    left = [job for job in jobs if not is_complete(job)]
    names = {job.id: f"rate {job.labels['rate']} seed {job.labels['seed']}" for job in jobs}

    def tell(event: Event) -> None:
        if isinstance(event, Failed | Retried):
            print(f"{names[event.trial]}: {event.message}", flush=True)
        elif isinstance(event, Finished):
            print(f"{names[event.trial]}: finished", flush=True)

    for outcome in LocalRunner().run(left, slots, tell) if left else ():
        if outcome.state != "done" and "Diverged:" not in outcome.error:
            raise UserError(f"{names[outcome.trial]}: {outcome.error or outcome.state}; the same command resumes")


def nats_of(job: Job) -> float:
    """Validation nats of a trial at its end; infinite when it diverged."""
    (request,) = job.run.evaluations
    summary = find_evaluation(TrialDirectory(Path(job.run.runs) / job.id), job, request)
    return math.inf if summary is None else summary["nats"]


def levels(jobs: Sequence[Job], rates: Sequence[float]) -> list[Level]:
    """What the trials of each rate came to."""
    return [Level(rate, tuple(nats_of(job) for job in jobs if job.labels["rate"] == f"{rate:g}")) for rate in rates]


def seed_noise(one: Level, other: Level) -> float:
    """Standard error of the difference of two rates' means."""
    return math.sqrt((one.sd**2 + other.sd**2) / len(one.nats))


def table(report: SearchReport, tried: Sequence[Level], choice: Level, seeds: int) -> list[str]:
    """The grid, the search's choice among it, and the verdict, as lines."""
    search, best = report.search, min(tried, key=lambda level: level.mean)
    samples, positions = search.config.training.samples, search.validation.minimum_positions
    repeats = f"{seeds} seeds a rate, {positions:,} validation positions"
    lines = [f"{search.title}, {samples:,} samples, {search.coverage}; {repeats}", ""]
    lines += [f"{'rate':>8} {'mean nats':>10} {'sd':>8}  nats by seed"]
    for level in sorted([*tried, choice], key=lambda level: level.rate):
        mark = "  <- found by the search" if level is choice else "  <- best of the grid" if level is best else ""
        by_seed = " ".join(f"{nats:.4f}" for nats in level.nats)
        lines.append(f"{level.rate:8g} {level.mean:10.4f} {level.sd:8.4f}  {by_seed}{mark}")
    noise, difference = seed_noise(choice, best), choice.mean - best.mean
    trained = sum(samples if each.state == "done" else max(each.points, default=0) for each in report.tried)
    states = Counter(each.state for each in report.tried)
    interval = report.optimum.interval if report.optimum else None
    best_rate = f"{report.rate:g}" + (f" [{interval.low:.3g}, {interval.high:.3g}]" if interval else "")
    trials = f"{len(report.tried)} trials ({states['pruned']} given up, {states['diverged']} diverged)"
    lines += ["", f"search: {trials}, {trained:,} samples; best rate {best_rate}"]
    lines += [f"grid: {len(tried) * seeds} trials, {len(tried) * seeds * samples:,} samples"]
    of_seeds = f"seed noise (standard error of such a difference) {noise:.4f}"
    lines += [f"choice - best of the grid: {difference:+.4f} nats; {of_seeds}; margin {MARGIN:g}"]
    return [
        *lines,
        "the choice is as good as the best of the grid"
        if difference <= max(noise, MARGIN)
        else "THE CHOICE IS WORSE than the best of the grid",
    ]


def keep(folder: Path, lines: Sequence[str], files: SearchFiles, command: str) -> None:
    """Write the table with its command, and the search's report and figure beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    search = files.report.search
    for name in ("report.md", "trials.csv", "figure.png"):
        shutil.copyfile(files.markdown.parent / name, folder / name)
    seeds = f"The trials of the search have seed {search.seed}, those of the grid and of the choice others."
    text = f"""# A learning-rate search against a grid

`python -m {command}`, code of commit `{search.commit}`. {seeds}
[`report.md`](report.md) is the search's own report, `trials.csv` its trials.

```
{chr(10).join(lines)}
```

![Nats over learning rate, and each trial's way](figure.png)
"""
    (folder / "README.md").write_text(text, encoding="utf-8")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {
        "samples": 9_600,
        "positions": 4_096,
        "points": 9,
        "seeds": 3,
        "trials": 16,
        "slots": 2,
    }.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--out", type=Path, help="folder to keep the table and the search's figure in")
    wanted = parser.parse_args()
    workspace, registry = Workspace.here(), load_registry()
    prepared = prepare_shown(load_dataset("starter", None), workspace)
    usual, base = registry.budget("cpu"), registry.base(BASE)
    warmup = {"training.schedule.warmup": min(usual.overrides["training.schedule.warmup"], wanted.samples // 8)}
    changes = {
        "id": f"cpu-{wanted.samples}",
        "samples": wanted.samples,
        "overrides": {**usual.overrides, **warmup},
        "progress_positions": 256,
        "evaluation_positions": wanted.positions,
    }
    budget = usual.model_copy(update=changes)
    config: TrialConfig = with_view(budget_config(base, budget), prepared.views["train"].digest)
    target = Target(BASE, base.title, base, budget, config, rate_range(config))
    request = SearchRequest(BASE, trials=wanted.trials, device="cpu")
    experiment = search_of(request, target, prepared, workspace)
    search, settings = experiment.search, experiment.settings
    seeds = range(1, wanted.seeds + 1)
    rates = grid(*search.rates, wanted.points)
    grid_jobs = jobs_at(search, settings, rates, seeds)
    warm_kernels([config], prepared.views["train"], "cpu", print)
    files = carry_out(experiment, Execution(workspace, LocalRunner(), wanted.slots), show=False).report.files
    report = files.report
    if report.unfinished:
        raise SystemExit(f"{report.unfinished} trials of the search are still to come; the same command resumes")
    if report.rate is None:
        raise SystemExit("every trial of the search diverged: there is no choice to compare")
    choice_jobs = jobs_at(search, settings, [report.rate], seeds)
    train([*choice_jobs, *grid_jobs], wanted.slots)
    (choice,) = levels(choice_jobs, [report.rate])
    lines = table(report, levels(grid_jobs, rates), choice, wanted.seeds)
    print("", *lines, sep="\n")
    if wanted.out is not None:
        named = ("samples", "positions", "points", "seeds", "trials")
        options = " ".join(f"--{name} {getattr(wanted, name)}" for name in named)
        keep(wanted.out, lines, files, f"benchmarks.search {options}")


if __name__ == "__main__":
    main()
