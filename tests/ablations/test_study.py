"""Designs: which arms are trained, which contrasts are taken, and what a study is called."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ablations.designs import CONTROL, DESIGNS, card_state, cells, design_arms
from ablations.registry import load_registry
from ablations.schema import Condition
from ablations.study import Thresholds, read_study, seeded, study_id
from gonn_core.config import TrialConfig, trial_id, with_values
from gonn_core.errors import InputError, SettingError

BARE = TrialConfig()


def card(name: str, path: str, off, on, **conditions):
    return SimpleNamespace(id=name, toggles={path: SimpleNamespace(off=off, on=on)}, **conditions)


PRELU = card("prelu", "net.activation", "relu", "prelu")
GAMMA = card("gamma", "net.norm_gamma", False, True)
STEM = card("stem", "net.stem.kernel", 5, 3)
DILATION = card("dilation", "net.trunk.dilations", [], [2])
CARDS = (PRELU, GAMMA, STEM, DILATION)


def states(arm, cards=CARDS) -> str:
    """`+-` for an arm with the first of two cards alone."""
    return "".join({"on": "+", "off": "-", "neither": "?"}[card_state(arm.config, each.toggles)] for each in cards)


def drawn(design, base, cards):
    """Arm -> its states; card -> (arms with it, arms without)."""
    arms, contrasts = design_arms(design, "bare", base, cards)
    return {arm.id: states(arm, cards) for arm in arms}, {c.card: (c.with_it, c.without) for c in contrasts}


def test_add_one():
    arms, contrasts = drawn("add-one", BARE, (PRELU, GAMMA))
    assert arms == {"control": "--", "with-prelu": "+-", "with-gamma": "-+"}
    assert contrasts == {"prelu": (("with-prelu",), ("control",)), "gamma": (("with-gamma",), ("control",))}


def test_add_one_takes_out_what_the_base_has():
    base = with_values(BARE, {"net.norm_gamma": True})
    arms, contrasts = drawn("add-one", base, (PRELU, GAMMA))
    assert arms == {"control": "-+", "with-prelu": "++", "without-gamma": "--"}
    assert contrasts["gamma"] == (("control",), ("without-gamma",))  # the effect is always that of having it


def test_leave_one_out():
    arms, contrasts = drawn("leave-one-out", BARE, (PRELU, GAMMA, STEM))
    assert arms == {"control": "+++", "without-prelu": "-++", "without-gamma": "+-+", "without-stem": "++-"}
    assert contrasts["stem"] == (("control",), ("without-stem",))


def test_cumulative():
    base = with_values(BARE, {"net.norm_gamma": True})
    arms, contrasts = drawn("cumulative", base, (PRELU, GAMMA, STEM))
    assert arms == {"control": "---", "plus-prelu": "+--", "plus-gamma": "++-", "plus-stem": "+++"}
    assert contrasts == {
        "prelu": (("plus-prelu",), ("control",)),
        "gamma": (("plus-gamma",), ("plus-prelu",)),
        "stem": (("plus-stem",), ("plus-gamma",)),
    }


def test_factorial():
    arms, contrasts = drawn("factorial", BARE, (PRELU, GAMMA))
    assert arms == {"control": "--", "with-prelu": "+-", "with-gamma": "-+", "with-prelu+gamma": "++"}
    assert {name: tuple(map(set, sides)) for name, sides in contrasts.items()} == {
        "prelu": ({"with-prelu", "with-prelu+gamma"}, {"control", "with-gamma"}),
        "gamma": ({"with-gamma", "with-prelu+gamma"}, {"control", "with-prelu"}),
    }


@given(st.sampled_from(DESIGNS), st.permutations(CARDS), st.integers(1, 4), st.integers(0, 15))
@settings(max_examples=60)
def test_every_design_of_every_base(design, cards, count, having):
    """The control comes first, arms differ, sides of a contrast have and lack the card, and all else is the base's."""
    cards = tuple(cards[:count])
    base = with_values(
        BARE, {path: t.on for i, each in enumerate(CARDS) if having >> i & 1 for path, t in each.toggles.items()}
    )
    arms, contrasts = design_arms(design, "base", base, cards)
    assert arms[0].id == CONTROL and len({trial_id(arm.config) for arm in arms}) == len(arms)
    assert [contrast.card for contrast in contrasts] == [each.id for each in cards]
    by_id = {arm.id: arm for arm in arms}
    for each, contrast in zip(cards, contrasts, strict=True):
        assert {card_state(by_id[arm].config, each.toggles) for arm in contrast.with_it} == {"on"}
        assert {card_state(by_id[arm].config, each.toggles) for arm in contrast.without} == {"off"}
        assert len(contrast.with_it) == len(contrast.without) and not set(contrast.with_it) & set(contrast.without)
    for arm in arms:
        assert with_values(base, {path: json.loads(value) for path, value in arm.values.items()}) == arm.config


FIFTH = card("wide", "net.trunk.width", 192, 256)
TWIN = card("twin", "net.activation", "relu", "prelu")
IDLE = card("slopes", "net.prelu_init", 0.0, 0.25)
FILTERS = (card("even", "data.games.handicap", True, False), card("ranks", "data.games.min_rank", None, 6))
WIDER = with_values(BARE, {"net.trunk.width": 128})


@pytest.mark.parametrize("design, base, cards, setting, problem", [
    ("all", BARE, (PRELU,), "DESIGN", "not a known design"),
    ("factorial", BARE, (*CARDS, FIFTH), "DESIGN", "5 enhancements make 32 arms"),
    ("factorial", BARE, FILTERS, "DESIGN", "several enhancements filter the games"),
    ("add-one", WIDER, (FIFTH,), "BASE", "has neither the off nor the on"),
    ("add-one", BARE, (PRELU, TWIN), "NAME", "arms with-prelu and with-twin are the same"),
    ("add-one", BARE, (IDLE,), "NAME", "arms control and with-slopes compute the same"),
])  # fmt: skip
def test_designs_that_cannot_be(design, base, cards, setting, problem):
    with pytest.raises(SettingError) as error:
        design_arms(design, "bare", base, cards)
    assert error.value.setting == setting and error.value.problem.startswith(problem)


def test_cells_that_a_card_needs_or_excludes():
    """Drawn as (first, second): the second needs the first on, or is at odds with it."""

    def refused(design, cards):
        return {cell.arm: cell.reason for cell in cells(design, "bare", BARE, cards) if cell.reason}

    needing = card("stem", "net.stem.kernel", 5, 3, requires=[Condition(card="prelu")])
    excluding = card("stem", "net.stem.kernel", 5, 3, excludes=[Condition(card="prelu")])
    assert refused("factorial", (PRELU, needing)) == {"with-stem": "stem needs prelu"}
    assert refused("leave-one-out", (PRELU, needing)) == {"without-prelu": "stem needs prelu"}
    assert refused("cumulative", (PRELU, needing)) == {} and refused("cumulative", (needing, PRELU)) == {
        "plus-stem": "stem needs prelu"
    }
    assert refused("factorial", (PRELU, excluding)) == {"with-prelu+stem": "stem excludes prelu"}
    assert (
        refused("add-one", (PRELU, needing)) == {"with-stem": "stem needs prelu"}
        and refused("add-one", (PRELU, excluding)) == {}
    )
    at_path = card("stem", "net.stem.kernel", 5, 3, requires=[Condition(path="net.norm_gamma", value=True)])
    assert refused("factorial", (GAMMA, at_path)) == {"with-stem": "stem needs net.norm_gamma = True"}


def test_cards_that_change_one_setting_are_not_combined():
    registry = load_registry()
    cards = [registry.card(name) for name in ("parametric_relu", "last_move_input", "five_moves_of_history")]
    line = "both change features.history and cannot be combined"
    for design in ("factorial", "cumulative", "leave-one-out"):
        with pytest.raises(SettingError, match=line):
            cells(design, "gonn-b5", registry.base("gonn-b5").config, cards)
    assert len(cells("add-one", "gonn-b5", registry.base("gonn-b5").config, cards[:2])) == 3


def test_a_base_that_loses_what_another_card_of_it_needed_is_an_arm():
    """Add-one takes one card out of a whole base: what is left of the other is idle there, and the arm can be."""
    base = with_values(BARE, {"net.activation": "prelu", "net.stem.kernel": 3})
    needing = card("stem", "net.stem.kernel", 5, 3, requires=[Condition(card="prelu")])
    arms, _ = design_arms("add-one", "both", base, (PRELU, needing))
    assert [arm.id for arm in arms] == ["control", "without-prelu", "without-stem"]


def test_seeds():
    arms, _ = design_arms("add-one", "bare", BARE, (PRELU,))
    assert len({trial_id(seeded(arm.config, seed)) for arm in arms for seed in (1, 2, 3)}) == 6
    assert seeded(BARE, 7).training.init_seed == seeded(BARE, 7).training.data_seed == 7


def named(cards=("prelu",), data="kgs+tom", design="add-one", trials=("a", "b"), thresholds=None):
    return study_id(cards, "gonn-b5", "cpu", data, design, trials, thresholds or Thresholds(), ())


def test_what_a_study_is_called():
    assert named()[:-6] == "prelu-gonn-b5-cpu-kgs+tom-"
    assert named(design="cumulative")[:-6] == "prelu-gonn-b5-cpu-kgs+tom-cumulative-"
    assert named(cards=("a", "b", "c"))[:-6] == "a+b+c-gonn-b5-cpu-kgs+tom-"
    assert named(cards=("a", "b", "c", "d"))[:-6] == "a+3-more-gonn-b5-cpu-kgs+tom-"
    assert named(data="my games/`x` \\x1b[31m 囲碁")[:-6] == "prelu-gonn-b5-cpu-my_games__x___x1b_31m___-"
    assert named() == named()
    others = [named(trials=("a", "c")), named(thresholds=Thresholds(alpha=0.1)), named(design="factorial")]
    assert len({name[-6:] for name in [named(), *others]}) == 4


@pytest.mark.parametrize(
    "text, line",
    [
        (None, "No such file or directory"),
        ("hello", "not a JSON file (Expecting value: line 1 column 1 (char 0))"),
        ("[]", "holds no mapping"),
        ('{"format": 99}', "study file of format 99; this version reads format 1"),
    ],
)
def test_files_that_are_no_study(tmp_path, text, line):
    path = tmp_path / "study.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_study(path)
    assert str(caught.value) == f"{path}: {line}"


def made(**changes):
    arms, contrasts = design_arms("add-one", "bare", BARE, (PRELU,))
    trials = [{"trial": trial_id(seeded(arm.config, 1)), "arm": arm.id, "seed": 1} for arm in arms]
    tree = {
        "format": 1,
        "id": "prelu-bare-1a2b3c",
        "title": "t",
        "cards": ["prelu"],
        "base": "bare",
        "budget": "cpu",
        "design": "add-one",
        "data": "d",
        "coverage": "d",
        "pairing": "by_position",
        "seeds": [1],
        "arms": [arm.model_dump(mode="json") for arm in arms],
        "contrasts": [contrast.model_dump(mode="json") for contrast in contrasts],
        "trials": trials,
        "evaluations": [],
        "thresholds": {},
        "created": "2026-01-01",
        "commit": "unknown",
        "dirty": False,
    }
    return {**tree, **changes}


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"id": "../../elsewhere"}, r"study.json.id=../../elsewhere: string should match"),
        ({"id": "a b"}, "study.json.id=a b: string should match"),
        ({"coverage": "\x1b[2J"}, "study.json: a study file with control characters"),
        (
            {"trials": [{"trial": "../../elsewhere", "arm": "control", "seed": 1}]},
            "study.json.trials.0.trial=../../elsewhere: string should match",
        ),
        ({"trials": [{"trial": "a", "arm": "none", "seed": 1}]}, "a trial is of an arm that is not there"),
        ({"trials": [{"trial": "a", "arm": "control", "seed": 1}] * 2}, "two trials have the same arm and seed"),
        ({"arms": []}, "the contrast of prelu needs arms with and without it, each once"),
        (
            {"contrasts": [{"card": "prelu", "with_it": ["control"], "without": []}]},
            "the contrast of prelu needs arms with and without it, each once",
        ),
        (
            {"contrasts": [{"card": "prelu", "with_it": ["control"], "without": ["control"]}]},
            "the contrast of prelu needs arms with and without it, each once",
        ),
    ],
)
def test_study_files_that_lead_elsewhere_or_contradict_themselves(tmp_path, changes, problem):
    path = tmp_path / "study.json"
    path.write_text(json.dumps(made()))
    assert read_study(path).id == "prelu-bare-1a2b3c"
    path.write_text(json.dumps(made(**changes)))
    with pytest.raises((InputError, SettingError), match=problem):
        read_study(path)
