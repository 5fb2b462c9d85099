"""What looks decide follows from the trials that were due for them, whatever is trained later."""

import numpy as np
import pytest

from ablations.study import Looks
from reports.results.compare import analyse_study
from reports.results.decisions import due_trials, is_sequential, load_results, next_look
from reports.stats.looks import planned_level, repeated_p
from tests.reports.made_studies import finish_trial, plan_study, train

LARGE, NONE, SOME = "parametric_relu", "stem_kernel_5x5", "ko_plane"
SEEDS = (3, 6, 9)


def planned(folder, *cards, seeds=SEEDS, **looks):
    return plan_study(folder, *cards, seeds=tuple(range(1, seeds[-1] + 1)), looks=Looks(seeds=seeds, **looks))


def arm_of(made, card):
    contrast = next(each for each in made.study.contrasts if each.card == card)
    return next(arm for arm in (*contrast.with_it, *contrast.without) if arm != made.study.arms[0].id)


def results_of(made):
    return load_results(made.study, made.runs)


def train_due(made, effects, most=99):
    """Train what is due, look by look, at most so many trials; how many there were."""
    trained = 0
    while missing := [each.ref for each in results_of(made).trials if each.result is None][: most - trained]:
        for ref in missing:
            finish_trial(made, ref, effects.get(ref.arm, 0.0))
        trained += len(missing)
    return trained


def test_a_look_is_taken_when_all_of_its_trials_are_there(tmp_path):
    made = planned(tmp_path, LARGE, NONE)
    assert len(due_trials(made.study, ())) == 9 and next_look(made.study, ()) == 0
    train_due(made, {arm_of(made, LARGE): 0.2}, most=8)
    assert results_of(made).looks == () and results_of(made).unjudged == "unfinished"
    train_due(made, {arm_of(made, LARGE): 0.2}, most=1)
    (look,) = results_of(made).looks
    assert look.seeds == 3 and {card: each.decision for card, each in look.cards.items()} == {
        LARGE: "shown",
        NONE: "continues",
    }
    due = [(ref.arm, ref.seed) for ref in due_trials(made.study, (look,))]
    assert len(due) == 15 and (arm_of(made, LARGE), 4) not in due and (arm_of(made, NONE), 6) in due


def test_the_last_look_decides_whatever_is_left(tmp_path):
    made = planned(tmp_path, LARGE, NONE)
    train_due(made, {arm_of(made, LARGE): 0.2})
    looks = results_of(made).looks
    assert [list(look.cards) for look in looks] == [[LARGE, NONE], [NONE], [NONE]]
    assert looks[-1].cards[NONE].decision == "not shown" and next_look(made.study, looks) is None


def test_small_effects_stop_where_futility_says_how_small(tmp_path):
    made = planned(tmp_path, LARGE, NONE, futility=0.05)
    assert train_due(made, {arm_of(made, LARGE): 0.2}) == 9
    assert results_of(made).looks[0].cards[NONE].decision == "futile"


def test_the_p_of_a_card_is_that_of_all_looks_together(tmp_path):
    """Pocock's: shown where the ordinary p of any look is below one level."""
    made = planned(tmp_path, SOME)
    train_due(made, {arm_of(made, SOME): 0.0})
    results = results_of(made)
    alone = [
        analyse_study(
            load_results(plan_study(tmp_path / str(n), SOME, seeds=tuple(range(1, n + 1))).study, made.runs), "nats"
        )
        for n in SEEDS
    ]
    found = [each.effects[SOME].p for each in alone]
    said = [look.cards[SOME].q for look in results.looks]
    assert said == pytest.approx([repeated_p(SEEDS, found[: n + 1]) for n in range(3)])
    assert analyse_study(results, "nats").effects[SOME].p == pytest.approx(said[-1])
    assert repeated_p(SEEDS, [planned_level(SEEDS, 0.05)]) == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_what_was_shown_stays_shown_whatever_comes_later(tmp_path, seed):
    """Decisions and q at every number of trials: of a card that was shown q never rises, of others no look changes."""
    made = planned(tmp_path, LARGE, NONE, SOME)
    generator = np.random.default_rng(seed)
    effects = {arm_of(made, card): float(generator.normal(0, 0.01)) for card in (LARGE, NONE, SOME)}
    before, shown = (), {}
    while train_due(made, effects, most=4):
        results = results_of(made)
        assert results.looks[: len(before)] == before
        before, analysis = results.looks, analyse_study(results, "nats")
        for look in results.looks:
            shown |= {card: each.q for card, each in look.cards.items() if each.decision == "shown"}
        for card, q in shown.items():
            assert analysis.effects[card].q <= q + 1e-12 and analysis.verdict(card) in ("helps", "hurts")
    assert len(before) > 1


def test_what_else_is_trained_or_lost_changes_no_look(tmp_path):
    made = planned(tmp_path, LARGE, NONE)
    train_due(made, {arm_of(made, LARGE): 0.2})
    before = results_of(made)
    for ref in made.study.trials:
        if ref.arm == arm_of(made, LARGE) and ref.seed > 3:  # by another study, of an arm that stopped
            finish_trial(made, ref, -0.5)
    after = results_of(made)
    assert after.looks == before.looks and [each.id for each in after.trials] == [each.id for each in before.trials]
    assert analyse_study(after, "nats").effects == analyse_study(before, "nats").effects
    lost = made.study.trials[1]
    (made.runs / lost.trial / "result.json").unlink()
    assert results_of(made).looks == () and lost in [each.ref for each in results_of(made).unfinished]
    finish_trial(made, lost, {arm_of(made, LARGE): 0.2}.get(lost.arm, 0.0))
    assert results_of(made).looks == before.looks


def test_looks_that_were_all_taken_before_stop_no_arm(tmp_path):
    made = planned(tmp_path, SOME, seeds=(4, 8), spent=1)
    assert not is_sequential(made.study) and due_trials(made.study, ()) == made.study.trials
    train(made, {})
    assert results_of(made).looks == () and results_of(made).unjudged is None
