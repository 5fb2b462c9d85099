"""What the docs name is there: modules, functions and files; and what README counts is counted."""

import csv
import importlib
import math
import re

import pytest

from ablations.arms import resolve
from ablations.coverage import load_coverage
from ablations.data.declared import dataset_names
from ablations.registry import load_registry
from tests.paths import ROOT

PAGES = [
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("ARCHITECTURE", "FIDELITY", "clusters", "reliability")),
]
MODULE = re.compile(r"`((?:gonn_core|ablations|reports|orchestration)(?:\.\w+)+)`((?: `\w+`(?:,(?= `))?)*)")
FILE = re.compile(
    r"`((?:gonn_core|ablations|reports|orchestration|tests|docs|scripts|benchmarks|results)/[\w./*-]+|[\w.-]+\.(?:md|txt|toml))`"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_and_functions_that_a_page_names_are_there(page):
    named = MODULE.findall(page.read_text(encoding="utf-8"))
    assert named or page.name != "ARCHITECTURE.md"
    for path, names in named:
        parent, _, last = path.rpartition(".")
        try:
            thing = importlib.import_module(path)
        except ModuleNotFoundError:
            thing = getattr(importlib.import_module(parent), last)
        for name in re.findall(r"\w+", names):
            assert hasattr(thing, name), f"{page.name} names {name} of {path}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    made_by_users = ("result.json", "metrics.jsonl", "manifest.json")
    for name in FILE.findall(page.read_text(encoding="utf-8")):
        assert list(ROOT.glob(name)) or name in made_by_users, f"{page.name} names {name}"


def test_the_picture_of_the_house_has_every_room():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = ("gonn_core", "ablations", "reports", "orchestration")
    rooms = [path.parent for package in packages for path in (ROOT / package).rglob("__init__.py")]
    assert [room for room in rooms if f"| `{room.relative_to(ROOT).as_posix()}/` |" not in text] == []


LINKING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.name)
def test_links_and_pictures_of_a_page_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"", text)
    local = [a or b for a, b in targets if not (a or b).startswith("http")]
    assert [each for each in local if not (page.parent / each).exists()] == []


def readme() -> str:
    """README on one line."""
    return " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def test_readme_counts_cards_claims_bases_and_what_is_no_toggle():
    registry = load_registry()
    claims = [claim for card in registry.cards.values() for claim in card.claims]
    counts = [claim for claim in claims if claim.metric == "parameters"]
    reasons = [
        each for document in load_coverage().values() for section in document.sections for each in section.without
    ]
    sentence = (
        f"{len(registry.cards)} cards with {len(claims)} claims ({len(claims) - len(counts)} on effects, "
        f"{len(counts)} on counts of parameters), on {len(registry.bases)} bases"
    )
    assert sentence in readme()
    assert f"a reason for each of the {len(reasons)} things that are no toggle" in readme()


def test_readme_names_every_data_set_and_the_longest_run():
    assert all(f"`{name}`" in readme() for name in dataset_names())
    registry = load_registry()
    longest = max(resolve(registry, card, "paper").control.training.samples for card in registry.cards)
    assert f"the claim's own, up to {longest / 1e6:,.0f}M" in readme()


def test_the_tests_that_keep_what_was_mended_are_there():
    text = (ROOT / "docs" / "FIDELITY.md").read_text(encoding="utf-8")
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) >= 20
    assert {name for name in named if f"def {name}(" not in tests and f"/{name}.py" not in text} - MODULES == set()


MODULES = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_the_rows_of_enhancements_that_a_page_shows_are_those_of_the_summary(page):
    with open(ROOT / "results" / "kgs-cpu" / "summary.csv", encoding="utf-8", newline="") as file:
        summary = list(csv.DictReader(file))
    rows = re.findall(
        r"(?m)^\| (?:[\w& -]+ \| )?(\w+)[^|]* \| [−+]\d\.\d{4} \| \[.*$", (ROOT / page).read_text(encoding="utf-8")
    )
    shown = [
        line
        for line in (ROOT / page).read_text(encoding="utf-8").splitlines()
        if re.search(r"\| [−+]\d\.\d{4} \|", line)
    ]
    assert len(rows) == len(shown) >= 5
    for card, line in zip(rows, shown, strict=True):
        cells = [number.replace("−", "-") for number in re.findall(r"[−+]?<?\d+\.\d+", line.split(" | ", 1)[1])]
        assert any(same_numbers(cells, row) for row in summary if row["card"] == card), line


def same_numbers(cells: list[str], row: dict[str, str]) -> bool:
    """Whether printed numbers are those of a row, to their last digits: Δ, interval, p, what else there is."""
    printed = [float(row[key]) for key in ("delta_test_nats", "interval95_low", "interval95_high")]
    rest = [
        float(row[key])
        for key in ("q", "at_base", "bound", "worth", "worth_interval95_low", "worth_interval95_high")
        if row[key]
    ]
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
