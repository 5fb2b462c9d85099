"""What the docs name is there: modules, functions and files."""

import importlib
import re

import pytest

from tests.paths import ROOT

PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "docs" / "ARCHITECTURE.md"]
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
