"""What enhancements are about, by their settings."""

from ablations.catalogue.lookup import BEGINNINGS, TOPICS, by_topic, topic_of, topic_of_setting
from ablations.registry import load_registry
from gonn_core.config import config_paths

REGISTRY = load_registry()


def test_every_card_has_a_topic_and_every_topic_cards():
    grouped = by_topic(REGISTRY.cards.values())
    assert list(grouped) == list(TOPICS) and set(BEGINNINGS.values()) == set(TOPICS)
    assert sorted(card.id for cards in grouped.values() for card in cards) == list(REGISTRY.cards)


def test_topics_follow_from_settings():
    told = {
        "ladder_input": "input", "history_dropping": "input", "edge_encoding": "input",
        "parametric_relu": "block", "stem_kernel_5x5": "block", "smolgen": "block", "small_heads": "block",
        "global_pooling_head": "head", "three_output_planes": "head", "fully_connected_head": "head",
        "aux_ownership": "loss", "l2_policy_loss": "loss", "masked_training": "loss",
        "momentum_matched_rate": "optimiser", "gradient_clipping": "optimiser", "batch_of_50": "optimiser",
        "drop_illegal_games": "data", "symmetry_augmentation": "data", "symmetry_averaging": "data",
        "learning_rate_annealing": "schedule", "warm_up": "schedule",
    }  # fmt: skip
    assert {name: topic_of(REGISTRY.card(name)) for name in told} == told


def test_every_setting_has_one():
    assert {topic_of_setting(path) for path in config_paths()} == set(TOPICS)
    for start in BEGINNINGS:
        assert any(path.startswith(start) for path in config_paths()), start
