"""Enhancements judged by play: which games count, the interval over seeds, verdicts on effect and claim."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from gonn_core.play.match.record import load_matches
from reports.book.book import book_page
from reports.play.win_rates import SeedGames, win_rate_effect, win_rates
from reports.results.decisions import load_results
from reports.study.report import make_report
from reports.study.tables import report_tables
from tests.reports.made_studies import plan_study, registry, train
from tests.reports.play.made_matches import net, won, write_match


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A study of last_move_input; the arm that has it (the control) takes 40 to 46 of 60 games with each seed, and a
    few of other kinds."""
    folder = tmp_path_factory.mktemp("play")
    made = plan_study(folder, "last_move_input", budget="cpu")
    train(made, {"without-last_move_input": 0.4})
    control, without = made.study.trials_of("control"), made.study.trials_of("without-last_move_input")
    samples = made.study.arms[0].config.training.samples
    matches = folder / "matches"
    for seed in (1, 2, 3, 4):
        a, b = net(control[seed], samples), net(without[seed], samples)
        if seed % 2:
            write_match(matches, a, b, won(38 + 2 * seed, 22 - 2 * seed))
        else:
            write_match(matches, b, a, won(22 - 2 * seed, 38 + 2 * seed))
    write_match(matches, net(control[1], samples), net(without[2], samples), won(0, 50))  # other seeds
    write_match(matches, net(control[1], samples), net(without[1], 10_016), won(0, 50))  # not the final net
    write_match(
        matches, net(control[1], samples, kind="argmax"), net(without[1], samples), won(0, 50)
    )  # another choice on either side
    write_match(matches, net(control[1], samples, history="none"), net(without[1], samples, history="none"), won(5, 5))
    results = load_results(made.study, made.runs, made.study_folder)
    return replace(results, played=tuple(load_matches(matches)))


def test_only_final_nets_of_one_seed_with_one_choice_are_pairs(played):
    published, dropped = win_rates([played])
    assert [(each.seed, each.points, each.games) for each in published.seeds] == [
        (1, 40, 60),
        (2, 42, 60),
        (3, 44, 60),
        (4, 46, 60),
    ]
    assert (published.choice, published.games, published.verdict) == ("", 240, "helps")
    assert (dropped.choice, dropped.games, dropped.verdict) == ("history none", 10, "underpowered")


def test_studies_with_other_seeds_make_one_row_and_shared_games_count_once(played, tmp_path):
    more = plan_study(tmp_path, "last_move_input", budget="cpu", seeds=(5, 6))
    train(more, {"without-last_move_input": 0.4})
    samples = more.study.arms[0].config.training.samples
    for seed in (5, 6):
        with_it, without = (more.study.trials_of(arm)[seed] for arm in ("control", "without-last_move_input"))
        write_match(tmp_path / "matches", net(with_it, samples), net(without, samples), won(20, 20))
    results = load_results(more.study, more.runs, more.study_folder)
    results = replace(results, played=tuple(load_matches(tmp_path / "matches")))
    published, dropped = win_rates([played, results, played])
    assert [(each.seed, each.games) for each in published.seeds] == [
        *((seed, 60) for seed in (1, 2, 3, 4)),
        (5, 40),
        (6, 40),
    ]
    assert published.effect.delta == pytest.approx((40 + 42 + 44 + 46) / 60 / 6 + 1 / 6 - 0.5) and dropped.games == 10


def test_the_book_has_each_win_rate_next_to_the_effect_on_the_loss(played):
    page = book_page([make_report(played, registry())], [], registry())
    tables = {table.name: table for table in page.tables}
    row, loss = tables["play"].rows[0].cells, tables["summary"].rows[0].cells
    assert (row["base"].text, row["rate"].text, row["games"].text) == ("gonn-b5", "71.7 %", "240")
    assert row["nats"].value == loss["delta"].value == pytest.approx(-0.4, abs=0.1)


def test_the_interval_is_that_of_t_over_seeds():
    seeds = [SeedGames(seed, ("a", "b"), points, 100) for seed, points in ((1, 40), (2, 70), (3, 55), (4, 80))]
    effect, theirs = win_rate_effect("card", seeds), ttest_1samp([0.4, 0.7, 0.55, 0.8], 0.5)
    interval = theirs.confidence_interval()
    assert effect.delta == pytest.approx(0.1125) and effect.p == pytest.approx(theirs.pvalue)
    assert (effect.interval95.low + 0.5, effect.interval95.high + 0.5) == pytest.approx((interval.low, interval.high))


def test_the_interval_is_never_narrower_than_chance():
    alike = [SeedGames(seed, ("a", "b"), 50, 100) for seed in (1, 2, 3, 4)]
    effect = win_rate_effect("card", alike)
    assert effect.se == pytest.approx(np.sqrt(0.25 / 400), rel=1e-3) and effect.interval95.high > 0.049
    swept = win_rate_effect("card", [SeedGames(seed, ("a", "b"), 100, 100) for seed in (1, 2, 3)])
    assert swept.delta == 0.5 and 0 < swept.se < 0.01
    assert win_rate_effect("card", alike[:1]).interval95 is None


def test_the_interval_covers_the_truth_of_new_seeds():
    generator, covered = np.random.default_rng(5), 0
    for _ in range(1000):
        truth = np.clip(generator.normal(0.6, 0.04, 4), 0, 1)
        seeds = [
            SeedGames(seed, ("a", "b"), float(generator.binomial(100, share)), 100) for seed, share in enumerate(truth)
        ]
        found = win_rate_effect("card", seeds).interval95
        covered += found.low <= 0.1 <= found.high
    assert 0.93 <= covered / 1000 <= 0.99


def test_the_report_has_a_table_of_play_and_judges_the_claim(played):
    report = make_report(played, registry())
    row = report_tables(report).table("play").rows[0].cells
    assert (
        row["rate"].text == "71.7 %"
        and row["games"].text == "240"
        and len(row["rate"].trials) == 8
        and row["verdict"].text.startswith("helps (q ")
    )
    assert row["q"].value == win_rates([played])[0].effect.q < 0.05
    claim = next(finding for finding in report.findings if finding.name == "last_move_input: play")
    assert claim.measured.text.startswith("+21.67 [") and claim.measured.text.endswith(
        "points from 50 % at 100k samples"
    )
    assert (
        claim.verdict == "not tested here"
        and "here: increase" in claim.measured.note
        and "240 games of 4 seeds" in claim.measured.note
    )


def test_without_games_the_claim_names_the_command(played):
    report = make_report(replace(played, played=()), registry())
    assert not any(table.name == "play" for table in report_tables(report).printed)
    claim = next(finding for finding in report.findings if finding.name == "last_move_input: play")
    assert claim.verdict == "not measured yet" and "gonn play" in claim.measured.note
