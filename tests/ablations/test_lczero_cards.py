"""Cards and bases after the fork of lczero-training: sizes, what excludes what, equal operations."""

import pytest

from ablations.arms import bases_of, resolve
from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from gonn_core.features.sets import plane_names
from gonn_core.nets.cost import count_parameters, multiply_adds

REGISTRY = load_registry()


def parameters(config) -> int:
    return count_parameters(config.net, len(plane_names(config.features)))


def outside_the_layers(width: int) -> int:
    """Embedding of 26 planes, positions, policy head."""
    return 26 * width + width + 361 * width + width * width + width + width


@pytest.mark.parametrize(
    "base, width, layers",
    [("lczero-s", 192, 1_486_464), ("lczero-m", 192, 2_477_440), ("lczero-r", 384, 9_870_080 + 361 * 384)],
)
def test_tiers(base, width, layers):
    """Layers as the document's net is counted (spec: other systems 3.5); R with its input gate."""
    assert parameters(REGISTRY.base(base).config) == layers + outside_the_layers(width)


def test_yardsticks_double_the_layers():
    small = 1_486_464
    for card, width, large in (("doubled_depth", 192, 2_972_928), ("doubled_width", 272, 2_967_504)):
        arms = resolve(REGISTRY, card, "paper", "lczero-s")
        assert parameters(arms.on) == large + outside_the_layers(width)
        assert parameters(arms.off) == small + outside_the_layers(192)


@pytest.mark.parametrize("budget", ["smoke", "cpu", "paper"])
def test_attention_body_against_equal_operations(budget):
    arms = resolve(REGISTRY, "attention_body", budget)
    assert (arms.off.net.family, arms.on.net.family) == ("gonn", "encoder")
    conv, attention = (multiply_adds(arm.net, 26) for arm in (arms.off, arms.on))
    assert conv == pytest.approx(attention, rel=0.1)
    assert arms.off.training == arms.on.training


@pytest.mark.parametrize("gate", ["additive_gate", "additive_gate_absolute"])
@pytest.mark.parametrize("smolgen", ["smolgen", "smolgen_relative"])
def test_smolgen_excludes_static_gates(smolgen, gate):
    assert gate in {condition.card for condition in REGISTRY.card(smolgen).excludes}
    with pytest.raises(SettingError, match="BASE"):
        resolve(REGISTRY, smolgen, "cpu", "lczero-s-gate")


def test_multiplicative_gate_needs_the_additive_one():
    assert bases_of(REGISTRY, REGISTRY.card("multiplicative_gate")) == ["lczero-s-gate"]


@pytest.mark.parametrize("budget", ["smoke", "cpu"])
def test_one_control_for_the_plain_tiers(budget):
    """At these budgets they are one net, trained once."""
    ci, s, m = (budget_config(REGISTRY.base(f"lczero-{tier}"), REGISTRY.budget(budget)) for tier in ("ci", "s", "m"))
    assert ci == s == m


def test_the_documents_nets():
    """Its sizes of smolgen on its own net, 68.4 million parameters; all three improvements; the large model's parts."""
    off, on = (resolve(REGISTRY, "smolgen", "paper").off, resolve(REGISTRY, "smolgen", "paper").on)
    assert parameters(on) - parameters(off) == pytest.approx(68.4e6, rel=0.001)
    depthwise = resolve(REGISTRY, "depthwise_process", "paper")
    encoder = depthwise.off.net.encoder
    assert (encoder.smolgen, encoder.smolgen_sizes, encoder.ffn_activation) == ("full", (32, 256, 256), "square_relu")
    together = resolve(REGISTRY, "lczero_all", "paper")
    assert (together.off, together.on.net) == (off, depthwise.on.net)
    assert together.on == resolve(REGISTRY, "lczero_all_against_larger", "paper").on
    ffn = resolve(REGISTRY, "ffn_ratio", "paper")
    assert [(arm.net.encoder.width, arm.net.encoder.ffn) for arm in (ffn.off, ffn.on)] == [(1024, 1536), (1024, 4096)]


@pytest.mark.parametrize("budget", ["cpu", "paper"])
def test_four_times_larger(budget):
    arms = resolve(REGISTRY, "lczero_all_against_larger", budget)
    plain = with_values(
        arms.off,
        {f"net.encoder.{name}": getattr(arms.on.net.encoder, name) for name in ("layers", "heads", "width", "ffn")},
    )
    widths = arms.off.net.encoder.width, plain.net.encoder.width
    outside = [outside_the_layers(width) + 361 * width for width in widths]  # with the input gate
    large, small = (parameters(arm) - less for arm, less in zip((arms.off, plain), outside, strict=True))
    assert large / small == pytest.approx(4, rel=0.08)


def test_flops_are_the_yardstick_where_smolgen_has_most_parameters():
    """As the card's summary says: the larger net has half the parameters and 2.1 times the operations."""
    arms = resolve(REGISTRY, "lczero_all_against_larger", "paper")
    larger, improved = (parameters(arm) for arm in (arms.off, arms.on))
    assert (larger, improved) == (40_158_880, 80_473_216)
    larger, improved = (multiply_adds(arm.net, 26) for arm in (arms.off, arms.on))
    assert round(larger / improved, 1) == 2.1


@pytest.mark.parametrize("budget", ["cpu", "gpu", "paper"])
def test_small_heads_are_of_size_16(budget):
    arms = resolve(REGISTRY, "small_heads", budget)
    assert arms.on.net.encoder.width == 16 * arms.on.net.encoder.heads
    assert arms.off.net.encoder.heads < arms.on.net.encoder.heads
