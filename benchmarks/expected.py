"""Writes ablations/expected/measured.yaml: what `gonn plan` says of time and noise before anything ran on a machine.

    python -m benchmarks.expected [--workspace FOLDER …] [--seconds 1.0] [--only-noise]

Speeds: the control of every base under the budgets cpu and smoke, and some cards' arms to see how well operations tell
their speeds, each in processor time of one core, beside the reference net in the same turn: the machine may be busy.
Noise: from the finished studies of the workspaces (default: this one). --only-noise keeps the speeds that are there.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from statistics import median, quantiles

import torch
import yaml

from ablations.arms import on_one_base
from ablations.designs import budget_config, design_arms
from ablations.expected.table import FILE, load_expected
from ablations.registry import Registry, load_registry
from ablations.study import Study, read_study
from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from gonn_core.evaluation.evaluate import BATCH
from gonn_core.features.sets import plane_names
from gonn_core.go.points import SIZE
from gonn_core.nets.cost import flops_per_sample
from gonn_core.nets.registry import trial_net
from gonn_core.training.environment import reset_torch
from gonn_core.training.speed import measure_speed
from orchestration.speeds.kept import machine
from reports.results.planning import KnownNoise, known_noise
from reports.workspace import Workspace

REFERENCE, REFERENCE_BUDGET, BUDGETS = "gonn-b5", "cpu", ("cpu", "smoke")
CPU, TURNS, ARMS = torch.device("cpu"), 3, 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workspace", type=Path, nargs="*", default=[Path()])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each net in a turn")
    parser.add_argument("--only-noise", action="store_true")
    options = parser.parse_args()
    noise = list(noise_rows(options.workspace))
    tree = load_expected().model_dump(mode="json") if options.only_noise else speeds(options.seconds)
    FILE.write_text(
        "# Measured by `python -m benchmarks.expected`; not written by hand.\n"
        + yaml.safe_dump({**tree, "noise": noise}, sort_keys=False, width=120),
        encoding="utf-8",
    )


def speeds(seconds: float) -> dict:
    """Everything in the file but the noise."""
    registry = load_registry()
    reference = control(registry, REFERENCE, REFERENCE_BUDGET)
    alone = median(one(reference, seconds) for _ in range(TURNS))
    rates, per_operation = [], {}
    for base in registry.bases:
        for budget in BUDGETS:
            config = control(registry, base, budget)
            rate, flops = alone * beside(config, reference, seconds), operations(config)
            per_operation[base, budget] = rate * flops
            rates.append(
                {
                    "base": base,
                    "budget": budget,
                    "family": config.net.family,
                    "flops": flops,
                    "samples_per_s": rounded(rate),
                    "positions_per_s": rounded(rate * evaluation_factor(config, seconds)),
                }
            )
            print(f"{base} {budget}: {rate:,.0f} samples/s of a core", flush=True)
    errors = []
    for name, config, base, budget in some_arms(registry):
        error = alone * beside(config, reference, seconds) * operations(config) / per_operation[base, budget]
        errors.append(error)
        print(f"{name} on {base}: measured {error:.2f} times what operations tell", flush=True)
    ends = quantiles(errors, n=10)
    spread = {"low": rounded(ends[0]), "high": rounded(ends[-1]), "arms": len(errors)}
    return {
        "machine": machine().partition(", ")[2],
        "measured": f"{date.today()}",
        "reference": REFERENCE,
        "reference_budget": REFERENCE_BUDGET,
        "spread": spread,
        "rates": rates,
    }


def control(registry: Registry, base: str, budget: str) -> TrialConfig:
    """A base as a budget has it."""
    found = registry.budget(budget)
    assert found.samples != "claim"
    return budget_config(registry.base(base), found, found.samples)


def operations(config: TrialConfig) -> int:
    return flops_per_sample(config.net, len(plane_names(config.features)))


def one(config: TrialConfig, seconds: float) -> float:
    """Samples per second of processor time."""
    return measure_speed(config, CPU, seconds, windows=2).samples_per_cpu_s


def beside(config: TrialConfig, reference: TrialConfig, seconds: float) -> float:
    """How much faster than the reference net it trains, by turns."""
    return median(one(config, seconds) / one(reference, seconds) for _ in range(TURNS))


def evaluation_factor(config: TrialConfig, seconds: float) -> float:
    """Positions/s of an evaluation's forward passes over samples/s of training."""
    import time

    training = one(config, seconds)
    reset_torch(1)
    net = trial_net(config).to(memory_format=torch.channels_last).eval()
    planes = torch.rand(BATCH, len(plane_names(config.features)), SIZE, SIZE).contiguous(
        memory_format=torch.channels_last
    )
    with torch.inference_mode():
        net(planes)
        begin, done = time.process_time(), 0
        while done == 0 or time.process_time() - begin < seconds:
            net(planes)
            done += 1
    return BATCH * done / (time.process_time() - begin) / training


def some_arms(registry: Registry) -> Iterator[tuple[str, TrialConfig, str, str]]:
    """Treatments of cards taken evenly from the list of all, that the cpu budget can have."""
    names, budget = sorted(registry.cards), registry.budget("cpu")
    found = 0
    for name in names[:: max(1, len(names) // (2 * ARMS))]:
        try:
            base, config, cards = on_one_base(registry, [registry.card(name)], budget, "add-one", None, None)
            arms, _ = design_arms("add-one", base.id, config, cards)
        except UserError:
            continue
        if found < ARMS:
            found += 1
            yield name, arms[1].config, base.id, budget.id


def noise_rows(workspaces: Sequence[Path]) -> Iterator[dict]:
    """Seed noise and evaluation variance of each base, budget, data set and number of samples: of several groups of
    runs, that with the most."""
    most: dict[tuple, tuple[Study, KnownNoise]] = {}
    for workspace in workspaces:
        for path in sorted((workspace / "studies").glob("*/study.json")):
            study = read_study(path)
            found = known_noise(workspace / "studies", workspace / "runs", study, Workspace(workspace).report_cache)
            if found is not None and (_kind(study) not in most or found.runs > most[_kind(study)][1].runs):
                most[_kind(study)] = study, found
    for (base, budget, data, samples), (study, found) in sorted(most.items()):
        yield {
            "base": base,
            "budget": budget,
            "data": data,
            "samples": samples,
            "seed_variance": rounded(2 * found.run.run**2),
            "df": float(rounded(found.run.df)),
            "evaluation_variance": rounded(found.evaluation_variance),
            "games": study.evaluations[0].games,
            "studies": len(found.studies),
        }


def _kind(study: Study) -> tuple:
    return study.base, study.budget_label, study.data, study.arms[0].config.training.samples


def rounded(value: float) -> float:
    """Three digits."""
    return round(value, 2 - math.floor(math.log10(abs(value))))


if __name__ == "__main__":
    main()
