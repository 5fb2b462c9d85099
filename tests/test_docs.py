"""What the docs name exists: modules, functions, files, links."""

import importlib
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
