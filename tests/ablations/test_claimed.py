"""Which comparisons are made as a claim was, and what the others differ in."""

import dataclasses
import math

import pytest

from ablations.arms import Arms, resolve
from ablations.claimed import Comparison, conditions_of, differences, opposed
from ablations.data.schema import dataset_names
from ablations.registry import load_registry
from ablations.schema import ANY_GAMES, Claim, Enhancement
from ablations.wording import leading_claim
from gonn_core.config import ScheduleConfig, get_path, with_values
from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def claim_of(card: Enhancement, name: str) -> Claim:
    return next(claim for claim in card.claims if claim.id == name)


def changed(registry, card: str, claim: str, **changes):
    """The registry with one claim of one card changed."""
    declared = registry.cards[card]
    claims = tuple(each.model_copy(update=changes) if each.id == claim else each for each in declared.claims)
    cards = {**registry.cards, card: declared.model_copy(update={"claims": claims})}
    return dataclasses.replace(registry, cards=cards)


def compared(arms: Arms, data: str, **values) -> Comparison:
    off, on = (with_values(each, values) for each in (arms.off, arms.on))
    return Comparison(arms.card, off, on, data)


@pytest.fixture(scope="module")
def apart(registry):
    def of(card, claim, budget, data="gogod-1995", base=None, declared=registry, **values):
        arms = resolve(declared, card, budget, base=base)
        return differences(declared, compared(arms, data, **values), claim_of(declared.cards[card], claim))

    return of


def test_a_claim_is_tested_on_its_net_its_games_and_its_samples(apart):
    assert apart("parametric_relu", "early_loss", "gpu") == ()
    assert apart("parametric_relu", "later_loss", "gpu") == ("samples (5,000,000 instead of 15,000,000)",)
    here = apart("parametric_relu", "early_loss", "cpu")
    assert "net.trunk.width (32 instead of 192)" in here and "features.ladders (True instead of False)" in here
    assert "samples (100,000 instead of 5,000,000)" in here
    assert "training.schedule.kind (linear instead of gonn)" in here


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"training.optimiser.learning_rate": 0.064}, "training.optimiser.learning_rate (0.064 instead of 0.032)"),
        ({"training.loss": "squared_error"}, "training.loss (squared_error instead of cross_entropy)"),
        ({"training.batch_size": 200}, "training.batch_size (200 instead of 100)"),
        ({"data.augmentation": "none"}, "data.augmentation (none instead of batch)"),
        ({"training.schedule.compression": 2.0}, "training.schedule.compression (2.0 instead of 1.0)"),
        ({"features.history": 5}, "features.history (5 instead of 3)"),
        ({"evaluation.legal_only": True}, "evaluation.legal_only (True instead of False)"),
        ({"training.precision": "fp32", "training.data_seed": 7}, None),
    ],
)
def test_every_setting_that_is_told_is_compared(apart, values, told):
    assert apart("parametric_relu", "early_loss", "gpu", **values) == (() if told is None else (told,))


def test_one_arm_at_another_rate_is_a_difference_too(registry):
    arms = resolve(registry, "parametric_relu", "gpu")
    on = with_values(arms.on, {"training.optimiser.learning_rate": 0.016})
    claim = claim_of(arms.card, "early_loss")
    assert differences(registry, Comparison(arms.card, arms.off, on, "gogod-1995"), claim) == (
        "training.optimiser.learning_rate (0.016 instead of 0.032)",
    )


def test_what_is_not_told_is_no_condition(registry, apart):
    rate = {"training.optimiser.learning_rate": 0.064, "training.optimiser.momentum": 0.5}
    free = changed(registry, "parametric_relu", "early_loss", not_told=("training.optimiser",))
    assert apart("parametric_relu", "early_loss", "gpu", declared=free, **rate) == ()
    base = registry.base("gonn-b4").model_copy(update={"not_told": ("training.optimiser.learning_rate",)})
    free = dataclasses.replace(registry, bases={**registry.bases, "gonn-b4": base})
    assert apart("parametric_relu", "early_loss", "gpu", declared=free, **rate) == (
        "training.optimiser.momentum (0.5 instead of 0.9)",
    )


def test_conditions_of_a_claim_take_the_place_of_its_bases(registry, apart):
    other = changed(registry, "parametric_relu", "early_loss", conditions={"net.norm_gamma": False})
    assert apart("parametric_relu", "early_loss", "gpu", declared=other) == ()  # the budget takes them from the claim
    assert apart("parametric_relu", "early_loss", "gpu", declared=other, **{"net.norm_gamma": True}) == (
        "net.norm_gamma (True instead of False)",
    )
    wrong = changed(registry, "parametric_relu", "early_loss", conditions={"features.k": False})
    with pytest.raises(SettingError, match="parametric_relu.claims.early_loss.conditions.features.k"):
        conditions_of(wrong, wrong.cards["parametric_relu"], claim_of(wrong.cards["parametric_relu"], "early_loss"))


@pytest.mark.parametrize(
    ("games", "data", "told"),
    [
        (("gogod",), "gogod", None),
        (("gogod", "gogod-1800"), "gogod-1800", None),
        (("gogod",), "gogod-1800", "gogod-1800 instead of those games"),
        (("gogod-1995",), "gogod", "gogod instead of those games"),
        (("kgs",), "kgs+tom", "kgs+tom instead of those games"),
        (("other",), "kgs", "kgs instead of those games"),
        (("kgs",), "my-games", "my-games instead of those games"),
        (ANY_GAMES, "kgs", None),
        (ANY_GAMES, "my-games", None),
        (ANY_GAMES, "starter", "starter, which judges no claim"),
        (("gogod",), "starter", "starter, which judges no claim"),
    ],
)
def test_data_sets_judge_the_claims_that_name_them(registry, apart, games, data, told):
    about = changed(registry, "parametric_relu", "early_loss", games=games, data="those games")
    here = apart("parametric_relu", "early_loss", "gpu", data, declared=about)
    assert here == (() if told is None else (f"the games ({told})",))


def test_games_of_some_years_only_are_told(registry):
    arms = resolve(registry, "parametric_relu", "gpu")
    claim = claim_of(arms.card, "early_loss").model_copy(update={"games": ("kgs",), "data": "KGS"})

    def apart(coverage):
        return differences(registry, Comparison(arms.card, arms.off, arms.on, "kgs", coverage), claim)

    assert apart("kgs, 15 of 15 training years") == ()
    assert apart("kgs, 4 of 15 training years (missing 2000, 2004)") == ("the games (4 of 15 training years of KGS)",)


def test_stages(registry, apart):
    end = registry.base("gonn-b4").schedule_end

    def reasons(samples, **changes):
        about = changed(registry, "parametric_relu", "early_loss", samples=None, **changes)
        return apart("parametric_relu", "early_loss", "gpu", declared=about, **{"training.samples": samples})

    assert reasons(end // 10, stage="early") == ()
    assert reasons(end // 5, stage="early") == ("samples (3,000,000; claimed of the first 10% of 15,000,000)",)
    assert reasons(end, stage="any", samples_from=end) == ()
    assert reasons(1_000, stage="any", samples_from=end) == ("samples (1,000; claimed from 15,000,000 on)",)
    for samples in (1_000, end, 10 * end):
        assert reasons(samples, stage="unknown")[0].endswith("after how many it was measured is not known)")


def test_filters_of_the_games_are_compared(apart):
    assert apart("parametric_relu", "early_loss", "gpu", **{"data.games.min_rank": 5}) == (
        "data.games.min_rank (5 instead of None)",
    )


def test_a_setting_without_influence_is_no_difference(apart):
    """Dilations are not in this net, so their share is nothing; one that matters in one of two nets is a difference."""
    assert apart("parametric_relu", "early_loss", "gpu", **{"net.trunk.dilated_share": "1/2"}) == ()
    dilated = {"net.trunk.dilations": [2, 2], "net.trunk.dilated_share": "1/2"}
    assert len(apart("parametric_relu", "early_loss", "gpu", **dilated)) == 2


def test_what_a_training_loss_is_averaged_over_is_a_condition(registry):
    about = changed(registry, "parametric_relu", "early_loss", metric="train_nats", window=500_000)
    arms = resolve(about, "parametric_relu", "gpu")
    claim = claim_of(about.cards["parametric_relu"], "early_loss")

    def reasons(window):
        return differences(about, Comparison(arms.card, arms.off, arms.on, "gogod-1995", "", window), claim)

    assert reasons(500_000) == ()
    assert reasons(416_700) == ("the window (416,700 instead of the last 500,000 samples)",)
    assert reasons(None) == ("the window (not known instead of the last 500,000 samples)",)


def own_conditions(registry, card, claim) -> Comparison:
    """A comparison exactly as a claim was made."""
    conditions = conditions_of(registry, card, claim)
    end = conditions.base.schedule_end
    most = claim.span(end)[1]
    samples = max(end, claim.samples_from or 0) if most == math.inf else int(most)
    off, on = (with_values(config, {"training.samples": samples}) for config in (conditions.off, conditions.on))
    data = "kgs" if claim.games == ANY_GAMES else claim.games[0]
    return Comparison(card.on_base(claim.base), off, on, data, "", claim.window)


def with_both(comparison: Comparison, **values) -> Comparison:
    """Both arms of a comparison with other settings."""
    off, on = (with_values(each, values) for each in (comparison.off, comparison.on))
    return dataclasses.replace(comparison, off=off, on=on)


def test_every_claim_is_judged_under_its_own_conditions_and_refused_under_others(registry):
    """Each claim on a base, as it was made, unless the card says why it cannot be; then with one thing changed."""
    judged = 0
    for card in registry.cards.values():
        for claim in card.claims:
            if claim.base is None or claim.games == ("other",):
                continue
            exact, conditions = own_conditions(registry, card, claim), conditions_of(registry, card, claim)
            here = differences(registry, exact, claim)
            lacking = bool(conditions.base.missing) and claim.missing_matters
            if claim.unmatched or lacking or claim.stage == "unknown":
                assert here, f"{card.id}.{claim.id}"
                continue
            assert not here, f"{card.id}.{claim.id}"
            judged += 1
            if claim.games != ANY_GAMES:
                for data in {*dataset_names(), "my-games"} - {*claim.games}:
                    reasons = differences(registry, dataclasses.replace(exact, data=data), claim)
                    assert [reason for reason in reasons if reason.startswith("the games")] == list(reasons) != []
            samples = exact.off.training.samples
            if fewest := claim.span(conditions.base.schedule_end)[0]:
                fewer = with_both(exact, **{"training.samples": int(fewest) // 2})
                assert differences(registry, fewer, claim)[0].startswith("samples"), f"{card.id}.{claim.id}"
            if claim.stage in (None, "early"):
                more = with_both(exact, **{"training.samples": 2 * samples})
                assert differences(registry, more, claim)[0].startswith("samples"), f"{card.id}.{claim.id}"
            if conditions.tells("training.optimiser.learning_rate"):
                rate = "training.optimiser.learning_rate"
                if rate not in exact.card.toggles:
                    doubled = with_both(exact, **{rate: 2 * exact.off.training.optimiser.learning_rate})
                    assert any(reason.startswith(rate) for reason in differences(registry, doubled, claim))
            if conditions.tells("data.games.min_year") and "data.games.min_year" not in exact.card.toggles:
                filtered = with_both(exact, **{"data.games.min_year": 2010})
                assert any("min_year" in reason for reason in differences(registry, filtered, claim))
            for path, value in {"net.trunk.width": 32, "training.batch_size": 8, "data.augmentation": "none"}.items():
                told = conditions.tells(path) and path not in exact.card.toggles
                if told and get_path(exact.off, path) != value and exact.off.net.family == "gonn":
                    other = with_both(exact, **{path: value})
                    assert any(reason.startswith(path) for reason in differences(registry, other, claim)), path
    assert judged > 150


def test_what_chess_has_no_part_in_is_judged_on_go(registry, apart):
    """Split batches give the same gradients in every net of the fork's, on any games and after any number of samples;
    its other claims need its chess, and a base of another loss is another matter still."""
    for base in ("lczero-s", "lczero-r-all"):
        assert apart("batch_splits", "loss", "cpu", "kgs", base=base) == ()
    assert "the missing chess" in " ".join(apart("square_relu", "accuracy", "cpu", "kgs"))
    other = apart("batch_splits", "loss", "cpu", "kgs", **{"training.loss": "squared_error"})
    assert other == ("training.loss (squared_error instead of cross_entropy)",)


def test_a_finished_net_is_one_trained_to_the_end(registry, apart):
    of_the_end = changed(registry, "parametric_relu", "early_loss", samples=None, stage="finished")
    end = registry.base("gonn-b4").schedule_end
    assert apart("parametric_relu", "early_loss", "gpu", declared=of_the_end) == (
        f"samples (5,000,000; claimed of nets trained to their end, here {end:,})",
    )
    assert apart("parametric_relu", "early_loss", "gpu", declared=of_the_end, **{"training.samples": end}) == ()
    at_any = changed(registry, "parametric_relu", "early_loss", samples=None, stage="any")
    assert apart("parametric_relu", "early_loss", "gpu", declared=at_any) == ()


def test_a_schedule_that_is_run_through_is_another_in_fewer_samples(registry, apart):
    usual = ScheduleConfig(kind="linear").model_dump()
    shares = {f"training.schedule.{name}": value for name, value in usual.items()}
    early = changed(registry, "parametric_relu", "early_loss", conditions=shares)
    end = registry.base("gonn-b4").schedule_end
    assert apart("parametric_relu", "early_loss", "gpu", declared=early, **shares) == (
        f"the schedule (run through in 5,000,000 instead of {end:,} samples)",
    )


def test_nets_that_are_none_of_ours(registry, apart):
    assert apart("ladder_only_target", "sees_o3", "gpu")[0] == "the net (the document's is none of the bases)"
    base = registry.base("gonn-b4").model_copy(update={"missing": ("second head",)})
    lacking = dataclasses.replace(registry, bases={**registry.bases, "gonn-b4": base})
    assert apart("parametric_relu", "early_loss", "gpu", declared=lacking) == ("the missing second head",)
    unlike = changed(registry, "parametric_relu", "early_loss", unmatched="arms of unequal length")
    assert apart("parametric_relu", "early_loss", "gpu", declared=unlike) == ("arms of unequal length",)
    assert "the enhancement's form (here not as on gonn-b5)" in apart(
        "dilated_convolutions", "loss", "gpu", base="gonn-b12"
    )


def test_opposite_statements_about_one_number_are_refused(registry):
    declared = registry.cards["parametric_relu"]
    claim = claim_of(declared, "early_loss")
    other = claim.model_copy(update={"id": "other", "direction": "increase", "value": None})

    def said(**changes):
        return opposed(registry, declared, claim, other.model_copy(update=changes))

    assert said() and said(samples=None, stage="any") and said(games=ANY_GAMES)
    assert not said(samples=15_000_000) and not said(samples=None, stage="finished")
    assert not said(games=("kgs",)) and not said(metric="top1") and not said(direction="decrease")
    assert not said(conditions={"features.ko": False}) and not said(base=None)
    both = declared.model_copy(update={"claims": (claim, other)})
    with pytest.raises(SettingError, match="early_loss, other: opposite statements about one number"):
        dataclasses.replace(registry, cards={**registry.cards, declared.id: both}).card(declared.id)


def test_no_two_opposite_claims_are_judged_in_one_study(registry):
    """Whatever the base, the budget and the games: of what is judged, nothing says the opposite of another."""

    def opposite(claims) -> bool:
        judged: dict[tuple, set[str]] = {}
        for claim in claims:
            number = (claim.metric, claim.quantity, claim.statistic, claim.probe, claim.history)
            judged.setdefault(number, set()).add(claim.direction)
        return any(len(directions) > 1 for directions in judged.values())

    cards = [card for card in registry.cards.values() if opposite(card.claims)]
    assert cards
    for card in cards:
        for budget in ("gpu", "paper"):
            for base in {claim.base for claim in card.claims if claim.base}:
                arms = resolve(registry, card.id, budget, base=base)
                for data in dataset_names():
                    judged = [each for each in card.claims if not differences(registry, compared(arms, data), each)]
                    assert not opposite(judged), (card.id, budget, base, data)


def test_the_main_statement_leads(registry):
    assert leading_claim(registry.cards["three_output_planes"].claims).direction == "increase"
    for card in registry.cards.values():
        claim, sources = leading_claim(card.claims), {METRICS[each.metric].source for each in card.claims}
        if claim is not None and sources - {"net", "speed"}:
            assert METRICS[claim.metric].source not in ("net", "speed"), card.id
