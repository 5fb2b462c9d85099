"""Enhancements by words and by topic, and the names that a misspelt one may mean."""

import pytest

from ablations.registry import load_registry, matching, suggestions, topic_of

REGISTRY = load_registry()


@pytest.mark.parametrize("name, first", [
    ("prelu", "parametric_relu"),  # a value that it sets
    ("parametric_rleu", "parametric_relu"),
    ("PARAMETRIC_RELU", "parametric_relu"),
    ("dilat", "dilated_convolutions"),
    ("smolgn", "smolgen"),
    ("pooling_global", "global_pooling_head"),
    ("weight decay", "clark_weight_decay"),
    ("clip_norm", "gradient_clipping"),  # a setting
])  # fmt: skip
def test_the_likeliest_suggestion_comes_first(name, first):
    assert suggestions(REGISTRY, name)[0] == first


def test_words_are_looked_for_in_names_titles_settings_and_values():
    def ids(words):
        return [card.id for card in matching(REGISTRY.cards.values(), words)]

    assert ids("elu")[0] == "elu" and "parametric_relu" not in ids("elu")  # beginnings of words
    assert "batchnorm_gamma" in ids("norm_gamma") and {"smolgen", "smolgen_swish"} <= set(ids("smolgen"))
    assert set(ids("ladder input")) < set(ids("ladder")) and ids("LADDER") == ids("ladder")
    assert ids("net.head.kernel") == ids("net head kernel") and ids("zzz") == ids("") == ids("..") == []


def test_topics_follow_from_settings():
    topics = {
        "ladder_input": "input", "history_dropping": "input", "parametric_relu": "block", "smolgen": "block",
        "global_pooling_head": "head", "three_output_planes": "head", "aux_ownership": "loss",
        "l2_policy_loss": "loss", "gradient_clipping": "optimiser", "batch_of_50": "optimiser",
        "drop_illegal_games": "data", "symmetry_averaging": "data", "warm_up": "schedule",
    }  # fmt: skip
    assert {name: topic_of(REGISTRY.card(name)) for name in topics} == topics
