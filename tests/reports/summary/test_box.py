"""The sentences that stand first: counted from the page's lines and the claims' findings."""

import pytest

from reports.results.decisions import load_results
from reports.study.report import make_report
from reports.summary.box import claim_sentences, headline, page_summary
from reports.summary.lines import summary_lines
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    study = plan_study(tmp_path_factory.mktemp("box"), "last_move_input", "ko_plane", "parametric_relu")
    train(study, {"without-last_move_input": 0.4, "without-parametric_relu": -0.3})
    return [make_report(load_results(study.study, study.runs, study.study_folder), study.registry)], study.registry


def test_effects_are_counted_and_those_that_are_shown_are_named_by_size(made):
    reports, registry = made
    lines = summary_lines(reports, registry)
    assert headline(lines) == "3 enhancements: 1 helps, 1 hurts, 1 not shown."
    assert headline([*lines, lines[0]]) == "4 effects of 3 enhancements: 2 help, 1 hurts, 1 not shown."
    sentences = page_summary(reports, lines, registry).sentences
    deltas = {line.card: line.effect.delta for line in lines}
    assert sentences[0] == f"Helps (Δ test nats): last_move_input −{-deltas['last_move_input']:.4f} on gonn-b5."
    assert sentences[1].startswith("Hurts (Δ test nats): parametric_relu +0.")


def test_claims_are_counted_apart_from_counts_of_parameters(made):
    reports, registry = made
    effects, counts = claim_sentences(reports, registry)
    claims = [claim for card in registry.cards.values() for claim in card.claims]
    of_nets = sum(claim.metric == "parameters" for claim in claims)
    assert f"of {len(claims) - of_nets} claims on effects have a number from us, none of them under" in effects
    assert f"of {of_nets} counts of parameters are checked: " in counts and "replicated" not in counts


def test_nothing_compared_says_so(made):
    assert page_summary([], [], made[1]).headline == "Nothing is compared yet."
