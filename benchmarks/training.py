"""Training on a CPU, in one run: fp32 and bf16, each as it is and with a compiled body; what a whole trial takes.

    python -m benchmarks.training [--samples 4800] [--rounds 7] [--short]

Net 3x32 (PReLU, centre kernel, pooled head), batch 32, one thread, on the bundled games. All rates are of CPU time.
Steps: variants take turns, round by round; medians over rounds, and the ratio to fp32 in the same round with its
range. Baselines in the same run: torch's own F.prelu, and ReLU. Compiling is measured in fresh processes with an empty
cache, and again with what the first left there; it is left out where no compiler is found, which is said.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from unittest import mock

import torch

from ablations.data.datasets import load_dataset, prepare
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import SettingError
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.nets.parts import norm
from gonn_core.records.sampler import Sampler
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.compiling import Compile, check_compile, describe_compiler
from gonn_core.training.environment import describe_processor, reset_torch
from gonn_core.training.loop import Trainer
from gonn_core.training.speed import random_batches, timed_steps
from gonn_core.trial.data import TrialData
from gonn_core.trial.job import Job, RunSettings
from gonn_core.trial.run import run_trial

CPU = torch.device("cpu")
NET = {
    "net.activation": "prelu",
    "net.stem.center_kernel": True,
    "net.trunk.width": 32,
    "net.trunk.blocks": 3,
    "net.head.pooling": "mean_max",
    "training.batch_size": 32,
    "training.schedule.kind": "linear",
    "training.optimiser.learning_rate": 0.2,
}
SHORT = {"net.trunk.width": 8, "net.trunk.blocks": 1}
"""The net of `--short`, which shows that everything runs and measures nothing."""
FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Of /proc/cpuinfo, that decide what bf16 gains."""
TURN_SECONDS = 0.5


class Variant(NamedTuple):
    """One way to take a step."""

    precision: str
    activation: str = "prelu"
    compile: Compile = "none"
    torchs_prelu: bool = False

    @property
    def name(self) -> str:
        told = {"body": ", compiled"}.get(self.compile, "")
        return self.precision + told + (", F.prelu" * self.torchs_prelu) + (", ReLU" * (self.activation == "relu"))


COMPILED = (Variant("fp32", compile="body"), Variant("bf16", compile="body"))
PLAIN = (
    Variant("fp32"),
    Variant("bf16"),
    Variant("fp32", torchs_prelu=True),
    Variant("fp32", "relu"),
    Variant("bf16", "relu"),
)


def step_rates(config: TrialConfig, variants: Sequence[Variant], rounds: int, seconds: float) -> dict:
    """Variant -> samples per CPU-second of each round, in turns of `seconds`, on one batch of planes."""
    reset_torch(1)
    trainers = {}
    for variant in variants:
        own = with_values(config, {"training.precision": variant.precision, "net.activation": variant.activation})
        batches = random_batches(own, CPU, "channels_last")
        trainer = Trainer(own, 1000, CPU, "channels_last", compile=variant.compile)
        trainer.warm_up(next(batches))
        trainers[variant] = trainer, batches
    rates: dict[Variant, list[float]] = {variant: [] for variant in variants}
    for _ in range(rounds):
        for variant, (trainer, batches) in trainers.items():
            with _torchs_prelu(variant.torchs_prelu):
                trainer.step(next(batches))
                _, rate = timed_steps(trainer, batches, CPU, seconds, of_cpu_time=True)
                rates[variant].append(rate)
    return rates


def _torchs_prelu(wanted: bool):
    """While this is entered, F.prelu takes the place of this project's own."""
    own = SimpleNamespace(apply=lambda x, slopes: torch.nn.functional.prelu(x, slopes.to(x.dtype)))
    return mock.patch.object(norm, "PReLU", own if wanted else norm.PReLU)


def compile_seconds(config: TrialConfig, cache: str) -> float:
    """CPU-seconds, the compiler's own included, from a net to its first step; in a process that has compiled
    nothing."""
    os.environ["GONN_CACHE"] = cache
    reset_torch(1)
    batch = next(random_batches(config, CPU, "channels_last"))
    trainer = Trainer(config, 1000, CPU, "channels_last", compile="body")
    began = sum(os.times()[:4])
    trainer.warm_up(batch)
    return sum(os.times()[:4]) - began


def first_and_second(config: TrialConfig, cache: Path) -> tuple[float, float]:
    """`compile_seconds` with an empty cache, and with what that left."""
    seconds = []
    for _ in range(2):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            seconds.append(pool.submit(compile_seconds, config, str(cache)).result())
    return seconds[0], seconds[1]


def plane_seconds(data: TrialData, config: TrialConfig, batches: int) -> float:
    """CPU-seconds per sample for sampling and planes."""
    size = config.training.batch_size
    sampler = Sampler(data.view(config.data.view), size, 0, history_keep=config.data.history_keep)
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last)
    times = []
    for repeat in range(4):
        began = time.process_time()
        for k in range(batches):
            maker.on_host(*sampler.batch(batches * repeat + k))
        times.append((time.process_time() - began) / (size * batches))
    return statistics.median(times[1:])


def trial_seconds(config: TrialConfig, store: str, validation: str | None, runs: Path) -> float:
    """CPU-seconds of a whole trial, with its 12 looks at 2,048 validation positions if there is a view."""
    settings = RunSettings(runs=str(runs / str(validation)), store=store, device="cpu", progress_view=validation)
    return run_trial(Job(config=config, run=settings))["cpu_seconds"]


def evaluation_rate(data: TrialData, config: TrialConfig, validation: str, positions: int) -> float:
    """Positions per CPU-second evaluated."""
    reset_torch(1)
    trainer = Trainer(config, 1000, CPU, "channels_last")
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last)
    rows = data.view(validation).rows[:positions]
    evaluate(trainer.net, maker, rows[:256], "full")
    began = time.process_time()
    evaluate(trainer.net, maker, rows, "full")
    return len(rows) / (time.process_time() - began)


def ratio_text(rates: Sequence[float], base: Sequence[float]) -> str:
    """`1.85 [1.36..1.95]`: over the base in the same round."""
    ratios = [one / other for one, other in zip(rates, base, strict=True)]
    return f"{statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]"


def machine_lines(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Processor, the flags that matter, torch, compiler."""
    told = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    words = set(next((line for line in told.splitlines() if line.startswith("flags")), "").split())
    flags = ", ".join(f"{flag} {'yes' if flag in words else 'no'}" for flag in FLAGS) if words else "unknown"
    return [describe_processor(cpuinfo), f"flags: {flags}; torch {torch.__version__}; compiler: {_compiler()}"]


def _compiler() -> str:
    try:
        check_compile("body", "cpu")
    except SettingError as error:
        return f"none ({error.problem})"
    return describe_compiler("cpu")


def print_steps(rates: Mapping[Variant, Sequence[float]], compiled: Mapping[Variant, tuple[float, float]]) -> None:
    """The table of steps."""
    print(f"{'steps':16}{'samples/CPU-s':>14}  {'ratio to fp32':20}  compiling, CPU-s: first, then cached; pays after")
    for variant, each in rates.items():
        line = f"{variant.name:16}{statistics.median(each):14,.0f}  {ratio_text(each, rates[PLAIN[0]]):20}"
        if variant in compiled:
            plain = statistics.median(rates[variant._replace(compile="none")])
            gained = 1 / plain - 1 / statistics.median(each)
            pays = [f"{seconds / gained:,.0f}" if gained > 0 else "never" for seconds in compiled[variant]]
            line += "  {:.1f}, {:.1f}; {}, {} samples".format(*compiled[variant], *pays)
        print(line)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=4800, help="of each trial")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--short", action="store_true", help="a tiny net for a moment: whether everything runs")
    options = parser.parse_args(arguments)
    short, samples = options.short, 320 if options.short else options.samples
    rounds, turn = (2, 0.01) if short else (options.rounds, TURN_SECONDS)
    can_compile = not _compiler().startswith("none (")
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(load_dataset("starter"), Path(folder) / "stores")
        store, validation = str(prepared.store.folder), prepared.views["validation"].digest
        own = {"data.view": prepared.views["train"].digest, "training.samples": samples}
        base, data = with_values(TrialConfig(), {**NET, **own, **(SHORT if short else {})}), TrialData(store)
        print("\n".join(machine_lines()))
        width, blocks = base.net.trunk.width, base.net.trunk.blocks
        print(f"{blocks}x{width}, batch {base.training.batch_size}, one thread\n")
        chosen = (PLAIN[0], COMPILED[0], PLAIN[1], COMPILED[1], *PLAIN[2:]) if can_compile else PLAIN
        compiled = {}
        for variant in COMPILED if can_compile else ():
            config = with_values(base, {"training.precision": variant.precision})
            compiled[variant] = first_and_second(config, Path(folder) / variant.precision)
        print_steps(step_rates(base, chosen, rounds, turn), compiled)
        print(f"\n{'trials':16}{'samples/CPU-s*':>14}{'planes':>9}{'looks':>8}{'evaluated/CPU-s':>17}")
        for precision in ("fp32", "bf16"):
            config = with_values(base, {"training.precision": precision})
            planes = plane_seconds(data, config, 20 if short else 200)
            runs = Path(folder) / "runs"
            bare, whole = (trial_seconds(config, store, view, runs) for view in (None, validation))
            evaluated = evaluation_rate(data, config, validation, 300 if short else 2048)
            shares = f"{planes * samples / bare:9.1%}{1 - bare / whole:8.1%}"
            print(f"{precision:16}{samples / bare:14,.0f}{shares}{evaluated:17,.0f}")
        print("* without looks at validation; planes: share of that; looks: share of a trial that has them")


if __name__ == "__main__":
    main()
