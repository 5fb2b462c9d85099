"""What a claim may say."""

import pytest

from ablations.registry import load_registry
from ablations.schema import Claim, Enhancement
from ablations.wording import claim_text, replication_text, withdrawn_text
from gonn_core.config import parse_model
from gonn_core.errors import SettingError

CLAIM = {
    "id": "loss",
    "metric": "nats",
    "direction": "decrease",
    "base": None,
    "stage": "any",
    "games": "gogod",
    "data": "GoGoD",
    "document": "gonn_sandbox",
    "section": "x",
    "evidence": "stated",
}


def claim(**changes):
    return parse_model(Claim, {**CLAIM, **changes}, "claim")


def test_bounds():
    assert claim().bounds is None
    assert claim(value=-0.02).bounds == (-0.02, -0.02)
    assert claim(range=[None, -0.01]).bounds == (float("-inf"), -0.01)
    assert claim(range=[-0.02, -0.01]).bounds == (-0.02, -0.01)


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"value": -0.1, "range": [-0.2, -0.1]}, "give a value or a range, not both"),
        ({"value": 0.1}, "the value does not go with the direction decrease (a difference is on minus off)"),
        ({"range": [None, None]}, "a range needs at least one end"),
        ({"range": [2.0, 1.0]}, "a range goes from low to high"),
        ({"metric": "top1", "direction": "increase", "value": 1.8}, "a share of 1"),
        ({"metric": "parameters", "direction": "increase", "value": 0.5}, "parameters are counted in whole numbers"),
        (
            {"metric": "samples_per_s_ratio", "direction": "increase", "value": 0.9},
            "does not go with the direction increase",
        ),
        ({"samples": 5_000_000}, "give the samples, or else the stage (finished, any, early, unknown)"),
        ({"stage": None}, "give the samples, or else the stage (finished, any, early, unknown)"),
        ({"conditions": {"features.ko": False}}, "conditions and not_told are set against a base: give one"),
        ({"metric": "weight_statistic"}, "statistic belongs to the metric weight_statistic, and it needs one"),
        ({"statistic": "prelu_slope_mean"}, "statistic belongs to the metric weight_statistic, and it needs one"),
        ({"metric": "probe"}, "probe belongs to the metric probe, and it needs one"),
        ({"quantity": "on"}, "only a weight_statistic or a probe can be claimed as a level (quantity on or off)"),
        ({"metric": "probe", "probe": {"position": "lastmove", "move": "I5"}}, "string should match pattern"),
    ],
)
def test_claims_that_make_no_sense(changes, problem):
    with pytest.raises(SettingError) as error:
        claim(**changes)
    assert problem in str(error.value)


def test_a_withdrawn_claim_says_where_and_only_where_the_card_has_a_later_one():
    card = load_registry().card("parametric_relu")
    withdrawn = {each.id: withdrawn_text(each) for each in card.claims if each.withdrawn_in}
    later = next(each for each in card.claims if each.id == "july_loss")
    assert withdrawn == dict.fromkeys(
        ("early_loss", "later_loss"), f" [withdrawn by its author in gonn_later: {later.section}]"
    )
    assert claim_text(later) == "no change of nats as published"
    tree = card.model_dump(mode="json") | {"claims": [{**CLAIM, "withdrawn_in": "gonn_later: nowhere"}]}
    with pytest.raises(
        SettingError, match="loss is withdrawn_in gonn_later: nowhere, from where the card has no claim"
    ):
        parse_model(Enhancement, tree, "card")


def test_replications_in_words():
    (replication,) = load_registry().card("fixup").replications
    assert replication_text(replication).startswith("lightvector/KataGo#689 (2022-10) (CGLemon's, against batch ")
    assert "; 1 run an arm): 12 of 40 games won" in replication_text(replication)
