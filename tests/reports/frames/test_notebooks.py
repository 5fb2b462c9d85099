"""The Python snippets of docs/reports.md run."""

import re

import matplotlib

from ablations.registry import load_registry
from reports.book.book import write_book
from reports.results.decisions import load_results
from reports.study.report import make_report
from tests.paths import ROOT
from tests.reports.made_studies import plan_study, train

PAGE = ROOT / "docs" / "reports.md"


def snippets(text: str) -> list[str]:
    """Python code of a markdown page."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_snippets_run_and_draw_the_effects(tmp_path, monkeypatch):
    matplotlib.use("Agg")
    made = plan_study(tmp_path, "last_move_input", "parametric_relu", budget="cpu")
    train(made, {"without-last_move_input": 0.4})
    report = make_report(load_results(made.study, made.runs), made.registry)
    write_book([report], load_registry(), tmp_path / "out" / "report")
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for snippet in snippets(PAGE.read_text(encoding="utf-8")):
        exec(snippet, names)
    assert (tmp_path / "effects.png").read_bytes().startswith(b"\x89PNG")
    assert names["nats"].card.tolist() == ["parametric_relu", "last_move_input"]
    assert len(names["trials"]) == 12 and set(names["effects"].card) == {"parametric_relu", "last_move_input"}
