"""What each Δ is against stands with the effects, in every design."""

import pytest

from reports.results.decisions import load_results
from reports.study.report import make_report
from reports.study.report_tables import report_tables
from reports.study.terminal import terminal_tables
from tests.reports.made_studies import plan_study, train

CARDS = ("parametric_relu", "ko_plane")


def made(folder, design):
    study = plan_study(folder, *CARDS, design=design, seeds=(1, 2, 3))
    train(study, {})
    return make_report(load_results(study.study, study.runs), study.registry)


@pytest.mark.parametrize(
    "design, note, cells, sentence",
    [
        ("add-one", "gonn-b5 with the enhancement minus gonn-b5 without it", None, "ko_plane: Δ"),
        (
            "leave-one-out",
            "with all 2 enhancements minus the same net without that one",
            ["against without parametric_relu", "against without ko_plane"],
            "ko_plane (against without ko_plane): Δ",
        ),
        (
            "cumulative",
            "(parametric_relu against gonn-b5 with none; ko_plane against + parametric_relu)",
            ["against gonn-b5 with none", "against + parametric_relu"],
            "ko_plane (against + parametric_relu): Δ",
        ),
        ("factorial", "the mean effect over the other enhancements on and off", None, "ko_plane: Δ"),
    ],
)
def test_every_design_says_what_its_differences_are_against(tmp_path, design, note, cells, sentence):
    report = made(tmp_path, design)
    effects = report_tables(report).table("effects")
    assert note in effects.notes[0]
    found = [row.cells["against"].text for row in effects.rows if "against" in row.cells]
    assert found == (cells or []) and (("against" in [each.key for each in effects.columns]) == bool(cells))
    assert report.sentences[1].startswith(sentence)
    assert any(note in getattr(part, "plain", "") for part in terminal_tables(report))
    assert report.nats.effects.keys() == set(CARDS)
