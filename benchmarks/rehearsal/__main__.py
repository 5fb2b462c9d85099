"""Every base and both arms of every card on a device that pretends, as a table; nothing of it runs on a GPU.

    python -m benchmarks.rehearsal [--out results/gpu/rehearsal.md]

About three minutes of a core. Exit code 1 when something fails, waits for the device, copies, or may give other bits
each time, for no reason that is known.
"""

import argparse
import sys
from pathlib import Path

import torch

from ablations.registry import load_registry
from benchmarks.rehearsal.arms import FAMILIES, Named, cards_by_family, of_bases, of_cards
from benchmarks.rehearsal.table import page
from gonn_core.files.whole import write_bytes
from tests.rehearsal.found import Rehearsal
from tests.rehearsal.process import rehearse_apart
from tests.rehearsal.waits import surprises


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rehearsal", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, help="write the table to this file")
    options = parser.parse_args(arguments)
    registry = load_registry()
    bases = _rehearsed(of_bases(registry))
    by_family = cards_by_family(registry)
    arms = {family: _rehearsed(of_cards(registry, by_family[family])) for family in FAMILIES}
    text = page(bases, arms, len(registry.cards), torch.__version__)
    if options.out is None:
        print(text, end="")
    else:
        write_bytes(options.out, text.encode())
    everything = [*bases, *(arm for family in arms.values() for arm in family)]
    odd = {named.name: strange for named, found in everything if (strange := surprises(named.part.config, found))}
    for name, strange in odd.items():
        print(f"{name}: {'; '.join(strange)}", file=sys.stderr)
    return 1 if odd else 0


def _rehearsed(parts: list[Named]) -> list[tuple[Named, Rehearsal]]:
    print(f"{len(parts)} rehearsals, {parts[0].name} first", file=sys.stderr, flush=True)
    return list(zip(parts, rehearse_apart([part for _, part in parts]), strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
