"""Does the precision change what is found? Two studies that differ in `training.precision` alone, pair by pair.

    python -m benchmarks.precision STUDY_FP32 STUDY_BF16 [--workspace FOLDER] [--evaluated 4000] [--out FOLDER]

Both are studies of one workspace (`gonn ablate … --precision …`), with the same arms and seeds. Printed, and written
with --out: the loss of bf16 less that of fp32, arm by arm and over all arms; each enhancement's effect under both, and
the difference of the two; CPU seconds of the trials. Test nats of the first evaluation, pairs by seed, intervals as in
any report (docs/STATISTICS.md), but from these pairs' own noise alone.

--evaluated: each trained net whose weights are there is evaluated once more on so many of the test positions, in both
precisions: what of the difference comes from evaluating in fp32 what was trained in bf16?
"""

import argparse
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from ablations.study import Study, read_study
from gonn_core.errors import SettingError
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.records.views import subset
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.environment import reset_torch
from gonn_core.trial.data import TrialData
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import read_job
from gonn_core.trial.weights import snapshot_net
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.stats.estimates import ArmResult, Effect, mean_effect
from reports.tables.cells import Cell, Column, Row, Table
from reports.tables.formats import interval, level, p_value, signed
from reports.tables.writers import csv_text, markdown_table
from reports.workspace import Workspace

BOTH = ("fp32", "bf16")
OVER_ALL = "all arms"
Comparison = tuple[Sequence[str], Sequence[str]]
"""Arms of which the mean is taken, and those that are taken off."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("studies", nargs=2, help="ids of the studies, fp32 first")
    parser.add_argument("--workspace", type=Path, default=None)
    parser.add_argument("--evaluated", type=int, default=0, metavar="POSITIONS")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    workspace = Workspace.here() if options.workspace is None else Workspace(options.workspace)
    results = [read(workspace, name) for name in options.studies]
    check(*(each.study for each in results))
    sums, study = of_both(*results), results[0].study
    tables = {"loss": loss_table(sums, study), "effects": effects_table(sums, study), "time": time_table(*results)}
    if options.evaluated:
        tables["evaluated"] = evaluated_table(workspace, results, options.evaluated)
    text = "\n".join(f"{markdown_table(table)}\n" for table in tables.values())
    print(text)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "tables.md").write_text(text, encoding="utf-8")
        for name, table in tables.items():
            (options.out / f"{name}.csv").write_text(csv_text(table), encoding="utf-8")


def read(workspace: Workspace, name: str) -> StudyResults:
    """A study of the workspace with its trials."""
    folder = workspace.studies / name
    return load_results(read_study(folder / "study.json"), workspace.runs, folder)


def check(fp32: Study, bf16: Study) -> None:
    """Raises SettingError unless the two differ in precision alone."""
    for study, precision in ((fp32, "fp32"), (bf16, "bf16")):
        if any(arm.config.training.precision != precision for arm in study.arms):
            raise SettingError("STUDY", study.id, f"not every arm is trained in {precision}")
    plain = [
        {arm.id: arm.config.model_dump(exclude={"training": {"precision"}}) for arm in study.arms}
        for study in (fp32, bf16)
    ]
    if plain[0] != plain[1] or fp32.seeds != bf16.seeds:
        raise SettingError("STUDY", bf16.id, f"arms or seeds are not those of {fp32.id}")


def loss_table(sums: Mapping, study: Study) -> Table:
    """Loss of bf16 less that of fp32, of each arm and of all. sums: see `of_both`."""
    arms = [arm.id for arm in study.arms]
    comparisons = {arm: ([f"bf16 {arm}"], [f"fp32 {arm}"]) for arm in arms}
    comparisons[OVER_ALL] = ([f"bf16 {arm}" for arm in arms], [f"fp32 {arm}" for arm in arms])
    columns = [
        Column("arm", "arm", "left"),
        Column("fp32", "fp32, nats"),
        Column("bf16", "bf16, nats"),
        Column("delta", "bf16 − fp32"),
        Column("interval", "95 % interval", parts=("low", "high")),
        Column("bound", "90 %: smaller than"),
        Column("pairs", "pairs"),
    ]
    effects = analysed(sums, comparisons)
    means = {key: result.sums.sum(1) / result.counts.sum() for key, result in sums.items()}
    rows = []
    for name, effect in effects.items():
        used = arms if name == OVER_ALL else [name]
        sides = {p: statistics.mean(statistics.mean(means[f"{p} {arm}"]) for arm in used) for p in BOTH}
        cells = {
            "arm": Cell(name, name, escape=True),
            **{precision: Cell(level(value), value) for precision, value in sides.items()},
            **effect_cells(effect),
            "bound": Cell("" if effect.bound is None else level(effect.bound), effect.bound),
            "pairs": Cell(str(effect.n * len(used)), effect.n * len(used)),
        }
        rows.append(Row(name, cells))
    return Table("loss", "Loss", tuple(columns), tuple(rows))


def effects_table(sums: Mapping, study: Study) -> Table:
    """Each enhancement's effect under both precisions, and the difference. sums: see `of_both`."""
    rows = []
    columns = [
        Column("card", "enhancement", "left"),
        Column("fp32", "effect under fp32"),
        Column("bf16", "effect under bf16"),
        Column("delta", "difference"),
        Column("interval", "95 % interval", parts=("low", "high")),
        Column("p", "p"),
    ]
    for contrast in study.contrasts:
        comparisons = {
            precision: (
                [f"{precision} {arm}" for arm in contrast.with_it],
                [f"{precision} {arm}" for arm in contrast.without],
            )
            for precision in BOTH
        }
        # (bf16 with - bf16 without) - (fp32 with - fp32 without), halved by the means of the two sides
        comparisons["half"] = (
            [f"bf16 {arm}" for arm in contrast.with_it] + [f"fp32 {arm}" for arm in contrast.without],
            [f"bf16 {arm}" for arm in contrast.without] + [f"fp32 {arm}" for arm in contrast.with_it],
        )
        effects = analysed(sums, comparisons)
        half = effects["half"]
        ends = half.interval95
        twice = None if ends is None else type(ends)(2 * ends.low, 2 * ends.high)
        cells = {
            "card": Cell(contrast.card, contrast.card),
            **{
                precision: Cell(
                    f"{signed(effects[precision].delta)} {interval(effects[precision].interval95)}",
                    effects[precision].delta,
                )
                for precision in BOTH
            },
            "delta": Cell(signed(2 * half.delta), 2 * half.delta),
            "interval": Cell(interval(twice), None if twice is None else [twice.low, twice.high]),
            "p": Cell(p_value(half.p), half.p),
        }
        rows.append(Row(contrast.card, cells))
    return Table("effects", "Effects", tuple(columns), tuple(rows))


def time_table(fp32: StudyResults, bf16: StudyResults) -> Table:
    """Median processor seconds of a trial's first session under both, and their ratio."""
    columns = [Column("arm", "arm", "left"), *(Column(p, f"{p}, CPU s") for p in BOTH), Column("ratio", "ratio")]
    rows = []
    for arm in fp32.study.arms:
        seconds = [
            statistics.median(trial.result["cpu_seconds"] for trial in results.of_arm(arm.id) if trial.result)
            for results in (fp32, bf16)
        ]
        cells = {
            "arm": Cell(arm.id, arm.id, escape=True),
            **{p: Cell(f"{value:.0f}", value) for p, value in zip(BOTH, seconds, strict=True)},
            "ratio": Cell(f"{seconds[0] / seconds[1]:.2f}", seconds[0] / seconds[1]),
        }
        rows.append(Row(arm.id, cells))
    return Table("time", "Time", tuple(columns), tuple(rows))


def evaluated_table(workspace: Workspace, results: Sequence[StudyResults], positions: int) -> Table:
    """Nets trained in each precision, evaluated in both: mean nats, and the largest difference of one net."""
    columns = [
        Column("trained", "trained in", "left"),
        Column("nets", "nets"),
        *(Column(p, f"evaluated in {p}, nats") for p in BOTH),
        Column("delta", "bf16 − fp32"),
        Column("most", "largest of one net"),
    ]
    rows = []
    for precision, each in zip(BOTH, results, strict=True):
        folders = [TrialDirectory(workspace.runs / trial.trial) for trial in each.study.trials]
        nats = [evaluated(workspace, folder, positions) for folder in folders if folder.snapshots()]
        if not nats:
            raise SettingError("STUDY", each.study.id, "no trial of it has its weights here")
        means = {p: statistics.mean(pair[p] for pair in nats) for p in BOTH}
        most = max((pair["bf16"] - pair["fp32"] for pair in nats), key=abs)
        cells = {
            "trained": Cell(precision, precision),
            "nets": Cell(str(len(nats)), len(nats)),
            **{p: Cell(f"{value:.5f}", value) for p, value in means.items()},
            "delta": Cell(f"{means['bf16'] - means['fp32']:+.5f}", means["bf16"] - means["fp32"]),
            "most": Cell(f"{most:+.5f}", most),
        }
        rows.append(Row(precision, cells))
    return Table("evaluated", "Evaluated in both precisions", tuple(columns), tuple(rows))


def evaluated(workspace: Workspace, directory: TrialDirectory, positions: int) -> dict[str, float]:
    """Test nats of a trial's last weights in both precisions, under full history, on positions spread over those of its
    first evaluation."""
    job, cpu = read_job(directory.path / "config.json"), torch.device("cpu")
    request, data = job.run.evaluations[0], TrialData(str(workspace.stores / Path(job.run.store).name))
    reset_torch(1, cpu)
    net, _ = snapshot_net(directory, job.config, job.id, max(directory.snapshots()))
    maker = PlaneMaker(data.store, job.config.features, cpu, torch.channels_last, ())
    rows = subset(data.view(request.view), request.minimum_positions, request.subset_seed).rows
    spread = rows[:: max(1, len(rows) // positions)]
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's types lack the keyword
    return {p: evaluate(net, maker, spread, "full", precision=p).means()["nats"] for p in BOTH}


def of_both(fp32: StudyResults, bf16: StudyResults) -> dict:
    """`precision arm` -> test nats summed by game. Raises SettingError while a trial is missing."""
    sums = {}
    for precision, results in (("fp32", fp32), ("bf16", bf16)):
        if results.unfinished:
            raise SettingError("STUDY", results.study.id, f"{len(results.unfinished)} of its trials are not finished")
        for arm in results.study.arms:
            sums[f"{precision} {arm.id}"] = results.arm_result(arm.id, MAIN, "nats")
    return sums


def analysed(sums: Mapping, comparisons: Mapping[str, Comparison]) -> dict[str, Effect]:
    """The mean of one group of arms minus that of another, paired by the seeds that all have."""
    effects = {}
    for name, (with_it, without) in comparisons.items():
        seeds = tuple(sorted(set.intersection(*(set(sums[arm].seeds) for arm in (*with_it, *without)))))
        mean = [np.mean([sums[arm].of_seeds(seeds) for arm in side], axis=0) for side in (with_it, without)]
        effects[name] = mean_effect(name, ArmResult(seeds, mean[0] - mean[1], sums[with_it[0]].counts))
    return effects


def effect_cells(effect: Effect) -> dict[str, Cell]:
    """Its difference and 95 % interval."""
    ends = effect.interval95
    return {
        "delta": Cell(signed(effect.delta), effect.delta),
        "interval": Cell(interval(ends), None if ends is None else [ends.low, ends.high]),
    }


if __name__ == "__main__":
    main()
