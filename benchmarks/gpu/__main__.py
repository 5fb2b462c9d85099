"""What a device does with this project's nets, with one command:

    python -m benchmarks.gpu --out FOLDER [--device cuda] [--size gpu|small] [--games GAMES | --store STORE]

Measured: matrix products and copies (what shares are of); training steps of five bases at the batch sizes of the budget
`gpu`: samples/s, host time, kernels, time by kind of kernel, peak memory; the loader with one thread and with all;
evaluation in two memory formats; whether the same steps give the same bits, resumed ones too; trials side by side.
Steps run on random planes; loader and evaluation take the bundled games unless others are
named. FOLDER gets benchmark.json and benchmark.md, also while it runs. What fails is named there and ends the command
with exit code 1, after everything else was measured.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import torch

from benchmarks.gpu.bases import BASES, SIZES, STANDARD
from benchmarks.gpu.machine import describe
from benchmarks.gpu.report import write
from benchmarks.gpu.sections import SECTIONS, Found, Plan, measure
from gonn_core.errors import UserError
from gonn_core.training.environment import choose_device, reset_torch

SECONDS = {"gpu": 5.0, "small": 0.3}


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the report")
    parser.add_argument("--name", default="benchmark", help="of the report's two files (default: benchmark)")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--size", default="gpu", choices=SIZES, help="small: to see that all runs, also on a CPU")
    parser.add_argument("--bases", default=",".join(STANDARD), help=f"among {', '.join(BASES)}")
    parser.add_argument("--sections", default=",".join(SECTIONS), help=f"among {', '.join(SECTIONS)}")
    parser.add_argument("--seconds", type=float, help="of each measurement (default: 5; small: 0.3)")
    parser.add_argument("--games", type=Path, help="an archive or a folder of games (default: the bundled ones)")
    parser.add_argument("--store", type=Path, help="a position store's folder, in place of games")
    parser.add_argument("--stores", type=Path, help="where a store is made (default: a temporary folder)")
    parser.add_argument("--loaders", type=int, help="threads of the loader, at most (default: one a core)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = options_of(arguments)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    bases, only = _named(options.bases, BASES, "--bases"), _named(options.sections, SECTIONS, "--sections")
    device = choose_device(options.device)
    if device.type == "cuda":
        device = torch.device("cuda", torch.cuda.current_device())
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            device=device,
            size=options.size,
            bases=bases,
            only=only,
            seconds=options.seconds or SECONDS[options.size],
            stores=options.stores or Path(folder),
            store=options.store,
            games=options.games,
            loaders=options.loaders or cores,
        )
        reset_torch(plan.threads)
        machine, found = describe(device), Found()
        asked = {"size": plan.size, "seconds": plan.seconds, "sections": ", ".join(only)}

        def keep(finished: bool = False) -> None:
            write(options.out, options.name, machine, asked, found, finished)

        def say(line: str) -> None:
            keep()
            print(line, file=sys.stderr, flush=True)

        measure(plan, say, found)
        keep(finished=True)
    print((options.out / f"{options.name}.md").read_text(encoding="utf-8"))
    return 1 if found.failures else 0


def _named(given: str, known, option: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if wrong := [name for name in names if name not in known]:
        raise UserError(f"{option}: {', '.join(wrong)}; valid: {', '.join(known)}")
    return names


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
