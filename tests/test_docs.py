"""What the docs name exists: modules, functions, files, links; numbers of effects are those of results/."""

import csv
import importlib
import math
import re

import pytest

from tests.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULE = re.compile(r"`((?:gonn_core|ablations|reports|orchestration)(?:\.\w+)+)`((?: `\w+`(?:,(?= `))?)*)")
FILE = re.compile(
    r"`((?:gonn_core|ablations|reports|orchestration|tests|docs|scripts|benchmarks|results)/[\w./*-]+|[\w.-]+\.(?:md|txt|toml))`"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_and_functions_that_a_page_names_exist(page):
    for path, names in MODULE.findall(page.read_text(encoding="utf-8")):
        parent, _, last = path.rpartition(".")
        try:
            thing = importlib.import_module(path)
        except ModuleNotFoundError:
            thing = getattr(importlib.import_module(parent), last)
        for name in re.findall(r"\w+", names):
            assert hasattr(thing, name), f"{page.name} names {name} of {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page):
    made_by_users = ("report.md", "index.md")
    for name in FILE.findall(page.read_text(encoding="utf-8")):
        assert list(ROOT.glob(name)) or name in made_by_users, f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_of_a_page_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = [link or source for link, source in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text)]
    for name, _, anchor in (target.partition("#") for target in targets if not target.startswith("http")):
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page.name} links to {name}"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {name}#{anchor}"


def anchors(page) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_rows_of_enhancements_that_the_readme_shows_are_those_of_the_summary():
    with open(ROOT / "results" / "kgs-cpu" / "summary.csv", encoding="utf-8", newline="") as file:
        summary = list(csv.DictReader(file))
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (\w+) \| [−+]\d\.\d{4} \| \[.*$", page)
    shown = [line for line in page.splitlines() if re.search(r"\| [−+]\d\.\d{4} \|", line)]
    assert len(rows) == len(shown) >= 5
    for card, line in zip(rows, shown, strict=True):
        cells = [number.replace("−", "-") for number in re.findall(r"[−+]?<?\d+\.\d+", line.split(" | ", 1)[1])]
        assert any(same_numbers(cells, row) for row in summary if row["card"] == card), line


def same_numbers(cells: list[str], row: dict[str, str]) -> bool:
    """Whether printed numbers are those of a row, to their last digits: Δ, interval, p, what else there is."""
    printed = [float(row[key]) for key in ("delta", "interval95_low", "interval95_high")]
    rest = [float(row[key]) for key in ("q", "at_base", "bound", "worth", "worth_low", "worth_high") if row[key]]
    rest.append(100 * float(row["delta_test_top1"]))
    if [f"{number:+.4f}" for number in printed] != cells[:3]:
        return False
    return all(
        any(number < 0.0001 if cell.startswith("<") else close(cell, number) for number in rest) for cell in cells[3:]
    )


def close(cell: str, number: float) -> bool:
    """Whether a number is what a cell says, give or take one in its last place: what an effect is smaller than is
    rounded up."""
    return math.isclose(float(cell), number, rel_tol=0, abs_tol=1.01 * 10.0 ** -len(cell.split(".")[1]))
