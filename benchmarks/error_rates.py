"""How often the project's decisions are wrong, simulated over the project's own functions.

    python -m benchmarks.error_rates [--tables 1600] [--seed 1] [--markdown FILE] [WORD …]

WORD: only cases whose group or name holds it (together, pages, noisy). One line for each question of a case: the bar it
has to keep to (in per cent, or in seeds), the rate, and its Monte-Carlo standard error. The runs are made by
`tests/error_rates/made.py`, which shares no code with the analysis; each case has its own random numbers, so one alone
gives the same figures as all. Exits with 1 when a bar is not kept by more than three standard errors. The same cases,
smaller, are in `make test`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.error_rates.all_cases import CASES
from tests.error_rates.rates import Rate, named, run_case

HEADER = ("group", "case", "question", "bar", "rate", "± s.e.", "made")
FEWEST = 50


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only cases whose group or name holds one of these")
    parser.add_argument("--tables", type=int, default=1600, help="made tables a case (fewer where they are costly)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", type=Path, help="also write the table to this file")
    options = parser.parse_args(arguments)
    words = "".join(f" '{word}'" for word in options.words)
    command = f"python -m benchmarks.error_rates --tables {options.tables} --seed {options.seed}{words}"
    rates: list[Rate] = []
    for case in named(CASES, options.words):
        found = run_case(case, max(FEWEST, round(case.share * options.tables)), options.seed)
        rates += found
        for rate in found:
            print("  ".join(cells(rate)) + ("" if rate.keeps() else "  BAR NOT KEPT"), flush=True)
        if options.markdown:  # after each case: a long run that is cut short leaves what it has
            options.markdown.write_text(markdown(rates, command), encoding="utf-8")
    missed = [rate for rate in rates if not rate.keeps()]
    print(f"{len(rates)} rates, {len(missed)} beyond their bars")
    return 1 if missed else 0


def cells(rate: Rate) -> tuple[str, ...]:
    """A row, in the order of HEADER."""
    scale, unit = (100.0, "") if rate.bar.unit == "%" else (1.0, f" {rate.bar.unit}")
    value, error = f"{scale * rate.value:.1f}{unit}", f"{scale * rate.error:.1f}"
    case = rate.case
    return case.group, case.name, rate.question, rate.bar.words, value, error, f"{rate.tables:,}"


def markdown(rates: Iterable[Rate], command: str) -> str:
    """One table of all cases."""
    rates = list(rates)
    missed = [rate for rate in rates if not rate.keeps()]
    text = [
        "# Error rates of the decisions, simulated",
        "",
        f"`{command}`. In per cent unless said: the project's own functions over made runs.",
        "*made*: tables, pages or workspaces made. **Bold**: beyond its bar by more than three standard errors"
        f" ({len(missed)} of {len(rates)} rates).",
        "",
        f"| {' | '.join(HEADER)} |",
        f"|{'---|' * len(HEADER)}",
    ]
    before: tuple[str, ...] = ()
    for rate in rates:
        row = list(cells(rate))
        if not rate.keeps():
            row[4] = f"**{row[4]}**"
        shown = ["", "", *row[2:]] if tuple(row[:2]) == before else row
        before = tuple(row[:2])
        text.append(f"| {' | '.join(shown)} |")
    return "\n".join(text) + "\n"


if __name__ == "__main__":
    sys.exit(main())
