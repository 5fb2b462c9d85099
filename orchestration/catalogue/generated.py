"""Checks of all declarations together (`gonn check`), and generated files: which are out of date, and all of them made
again (`make remake`).

Some are made from made-up studies or packed trials; a test compares each with what would be made.
"""

import csv
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean

from ablations.coverage import check_documents, load_coverage
from ablations.data.schema import read_declarations
from ablations.declarations import FOLDER
from ablations.readme import README, render
from ablations.registry import Registry, load_registry
from ablations.settings import docs_table, makefile_lists
from gonn_core.errors import UserError
from orchestration.catalogue.listing import BUDGET, DATA, committed
from orchestration.console import output
from reports.records import noise_of, read_rows, record_tables

ROOT = FOLDER.parent
TRIALS = ROOT / "results" / "report" / "all-trials.csv"
RECORD = ROOT / "records" / "README.md"
SAMPLES = 100_000
"""At which the score of a base is measured."""
_MEASURED = BUDGET, DATA, "done"
COMMENT = "# Measured: "
_BEGIN, _END = "<!-- settings -->\n", "<!-- end of settings -->\n"

MADE_BY_TESTS = {
    "tests/reports/golden": (
        "tests.reports.study.test_render",
        "tests/reports/study/test_render.py::test_golden_report",
    ),
}
"""File or folder -> the module that makes it, the test that compares it."""
SLOW = {
    "results": ("scripts.results", "tests/reports/test_example.py::test_the_pages_are_made_again_from_packed_trials"),
}
"""The same; it takes a minute."""


def generated_texts(registry: Registry) -> Iterator[tuple[Path, str]]:
    """Each generated file of the declarations, with the text that it should have."""
    if not (ROOT / "Makefile").is_file():  # installed without a checkout: results and pages are not there
        return
    yield README, render(registry, {card: effect.text for card, effect in committed(registry.cards).items()})
    makefile = ROOT / "Makefile"
    lines = makefile.read_text(encoding="utf-8").splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("SETTINGS ="))
    yield makefile, "".join([*lines[:first], makefile_lists(), *lines[first + 2 :]])
    page = ROOT / "docs" / "settings.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    yield page, before + _BEGIN + docs_table() + _END + rest.partition(_END)[2]
    if RECORD.is_file():
        before, begin, _ = RECORD.read_text(encoding="utf-8").partition("<!-- rows -->\n")
        yield RECORD, before + begin + record_tables(read_rows(), noise_of())
    if TRIALS.is_file():
        measured = scores(TRIALS)
        for name in registry.bases:
            path = FOLDER / "bases" / f"{name}.yaml"
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            rest = "".join(lines[next(k for k, line in enumerate(lines) if not line.startswith("#")) :])
            yield path, base_header(name, measured.get(name)) + rest


def scores(trials: Path) -> dict[str, list[dict[str, str]]]:
    """Base -> its finished trials without changes, at SAMPLES if there are some, from a table of trials."""
    with trials.open(encoding="utf-8", newline="") as file:
        at_cpu = [row for row in csv.DictReader(file) if (row["budget"], row["data"], row["state"]) == _MEASURED]
    rows = {row["trial"]: row for row in at_cpu if row["label"] == row["base"] and row["test_nats"]}
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows.values():
        found.setdefault(row["base"], []).append(row)
    for base, of_base in found.items():
        samples = str(SAMPLES) if any(row["samples"] == str(SAMPLES) for row in of_base) else of_base[-1]["samples"]
        found[base] = [row for row in of_base if row["samples"] == samples]
    return found


def base_header(name: str, trials: list[dict[str, str]] | None) -> str:
    """The first lines of a base's file: its cost, its score and the command."""
    command = f"# make scale BASE={name} DATA={DATA} BUDGET={BUDGET}"
    if not trials:
        return f"{COMMENT}not yet.\n{command}\n"

    def average(column: str) -> float:
        return mean(float(row[column]) for row in trials)

    samples, count = int(trials[0]["samples"]), len(trials)
    return (
        f"{COMMENT}{average('test_nats'):.3f} nats, top-1 {100 * average('test_top1'):.1f} % on test games of {DATA} "
        f"(mean of {count} trial{'s' * (count > 1)}; results/report).\n"
        f"# Cost of a trial: {samples:,} samples, {average('cpu_seconds') / 60:.1f} CPU minutes; "
        f"{int(trials[0]['parameters']):,} parameters under the {BUDGET} budget.\n"
        f"{command}{f' SAMPLES={samples}' * (samples != SAMPLES)} SEEDS={count}\n"
    )


def out_of_date(registry: Registry, slow: bool = False) -> list[str]:
    """Names of generated files that are not what would be made. slow: compare those too that take a minute each."""
    stale = [
        path.relative_to(ROOT).as_posix()
        for path, text in generated_texts(registry)
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for name, (_, test) in {**MADE_BY_TESTS, **(SLOW if slow else {})}.items():
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", test]
        is_here = (ROOT / test.partition("::")[0]).is_file()
        if is_here and subprocess.run(command, cwd=ROOT, capture_output=True).returncode:
            stale.append(name)
    return stale


def check_declarations(slow: bool = False) -> int:
    """Read and check all declarations, and name the generated files that are out of date; 1 when there are some.

    slow: compare also those that take a minute. Raises InputError or SettingError at the first bad declaration.
    """
    registry = load_registry()
    registry.check()
    sets, documents = read_declarations(), load_coverage()
    check_documents(registry)
    output().print(
        f"{len(registry.cards)} enhancements, {len(registry.bases)} bases, {len(registry.budgets)} budgets, "
        f"{len(sets)} data sets, {len(documents)} documents: all are valid"
    )
    stale = out_of_date(registry, slow)
    if stale:
        output().print(f"out of date: {', '.join(stale)}; make remake writes them again")
    return 1 if stale else 0


def remake(modules: Iterable[str]) -> None:
    """Write every generated file again; modules: run to make the others."""
    for path, text in generated_texts(load_registry()):
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            output().print(path.relative_to(ROOT).as_posix())
    for module in modules:
        output().print(f"python -m {module}")
        made = subprocess.run([sys.executable, "-m", module], cwd=ROOT, capture_output=True, text=True)
        if made.returncode:
            raise UserError(f"{module} failed: {made.stderr}")


if __name__ == "__main__":
    remake(module for module, _ in {**MADE_BY_TESTS, **SLOW}.values())
