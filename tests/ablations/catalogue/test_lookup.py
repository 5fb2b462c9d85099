"""Enhancements by words, and the names that somebody may have meant."""

import pytest

from ablations.catalogue.lookup import EXAMPLES, find_card, matching, suggestions
from ablations.registry import load_registry
from gonn_core.errors import SettingError, UserError

REGISTRY = load_registry()


@pytest.mark.parametrize("name, first", [
    ("prelu", "parametric_relu"),  # a value that it sets
    ("parametric_rleu", "parametric_relu"),
    ("parametricrelu", "parametric_relu"),
    ("PARAMETRIC_RELU", "parametric_relu"),
    ("dilat", "dilated_convolutions"),
    ("smolgn", "smolgen"),
    ("pooling_global", "global_pooling_head"),
    ("weight decay", "clark_weight_decay"),  # a title
    ("clip_norm", "gradient_clipping"),  # a setting
])  # fmt: skip
def test_the_one_that_was_meant_comes_first(name, first):
    assert suggestions(REGISTRY, name)[0] == first


@pytest.mark.parametrize("name", ["foo", "qqq", "\x1b[31m[red]<b>\n`", "x" * 10_000])
def test_nothing_is_suggested_where_nothing_is_like_it(name):
    assert suggestions(REGISTRY, name) == []
    with pytest.raises(SettingError, match="nor one like it; valid: one of the [0-9]+ that `make list` shows$"):
        find_card(REGISTRY, name)


def test_words_are_looked_for_in_names_titles_settings_and_values():
    def found(words):
        return [card.id for card in matching(REGISTRY.cards.values(), words)]

    assert found("elu")[0] == "elu" and "parametric_relu" not in found("elu")  # beginnings of words
    assert "batchnorm_gamma" in found("norm_gamma") and {"smolgen", "smolgen_swish"} <= set(found("smolgen"))
    assert set(found("ladder input")) < set(found("ladder"))  # all of them
    assert found("LADDER") == found("ladder") and found("net.head.kernel") == found("net head kernel")
    assert found("eighted") and found("zzz") == found("") == found("..") == []  # within words where none begins so
    assert set(found("lczero")) >= {card.id for card in REGISTRY.cards_of("lczero")}


def test_a_missing_name_is_told_three():
    with pytest.raises(UserError) as error:
        find_card(REGISTRY, "")
    names = ", ".join(f"NAME={name}" for name in EXAMPLES)
    assert len(EXAMPLES) == 3 and set(EXAMPLES) <= set(REGISTRY.cards)
    assert str(error.value) == f"NAME: not given; for example {names}; `make list` shows all {len(REGISTRY.cards)}"
