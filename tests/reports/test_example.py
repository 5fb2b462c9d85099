"""The committed pages below results/ are made again from the trials packed in results/trials/."""

import pytest

from scripts.pack import members
from scripts.results import FIGURES, PACKS, RESULTS, kept_pages, made_pages, quoting_pages
from tests.paths import ROOT
from tests.reports.same_text import same_file

MOST_BYTES = 20_000_000
"""A trial takes some 15 kB, beside 6 MB of pages and games: room for 900."""


@pytest.mark.system
def test_the_pages_are_made_again_from_packed_trials(tmp_path, monkeypatch):
    """Text, numbers and pictures, as tests/reports/same_text.py compares them: the same on any processor."""
    made = made_pages(tmp_path)
    kept = {path.relative_to(RESULTS).as_posix(): path.read_bytes() for path in kept_pages()}
    assert set(made) == set(kept)
    assert [name for name in made if not same_file(name, made[name], kept[name])] == []


def test_readme_and_findings_quote_the_pages():
    for path, text in quoting_pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m scripts.results"


def test_the_packs_are_disjoint_and_compact():
    packs = [set(members([path])) for path in PACKS]
    assert sum(map(len, packs)) == len(set.union(*packs))
    for names in packs:
        done = [name.split("/")[1] for name in names if name.startswith("runs/") and name.endswith("/result.json")]
        assert len(done) >= 30
        assert all(any(name.startswith(f"runs/{trial}/eval/") for name in names) for trial in done)
        assert not [name for name in names if "/eval/" in name and not name.endswith((".json", ".sums"))]


def test_results_stay_small_and_every_figure_is_shown_somewhere():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *RESULTS.rglob("*.md")]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    figures = [path.relative_to(RESULTS).as_posix() for path in files if path.suffix == ".png"]
    assert set(FIGURES) <= set(figures)
    assert [name for name in figures if name.rpartition("/")[2] not in text] == []
