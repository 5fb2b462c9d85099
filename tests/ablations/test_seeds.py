"""SEEDS, FUTILITY and CONTROL_SEEDS as they are typed."""

import pytest

from ablations.request import parse_control_seeds, parse_futility, parse_looks, parse_seeds, seeds_text
from gonn_core.errors import SettingError


def asked(seeds=None, futility=None, control=None, design="add-one", cards=("a",)):
    """Seeds of every arm, looks, futility, seeds of the control: as `ablations.resolve` reads them."""
    looks = parse_looks(seeds, design, cards)
    every = tuple(range(1, looks[-1] + 1)) if looks else parse_seeds(seeds, 4)
    return every, looks, parse_futility(futility, looks), parse_control_seeds(control, every, looks, design, cards)


def test_looks_are_steps_of_the_first_number_and_end_at_the_last():
    assert asked("4..16")[:3] == (tuple(range(1, 17)), (4, 8, 12, 16), None)
    assert asked("3..10", "0.02")[:3] == (tuple(range(1, 11)), (3, 6, 9, 10), 0.02)


@pytest.mark.parametrize("text, seeds", [("7,", (7,)), ("7", (1, 2, 3, 4, 5, 6, 7)), ("1,2,7", (1, 2, 7))])
def test_seeds_are_printed_as_they_are_typed(text, seeds):
    assert parse_seeds(text, 4) == seeds and seeds_text(seeds) == text
    assert seeds_text(seeds, (4, 8, 12)) == "4..12"


def test_a_control_may_have_more_seeds():
    assert asked(control="6")[3] == (1, 2, 3, 4, 5, 6)
    assert asked("1,7", control="1,7,9,10", design="leave-one-out")[3] == (1, 7, 9, 10)


@pytest.mark.parametrize("settings, said", [
    (("4..",), "SEEDS=4..: not a number of seeds"),
    (("..8",), "SEEDS=..8: not a number of seeds"),
    (("4..x",), "SEEDS=4..x: not a number of seeds"),
    (("2..8",), "SEEDS=2..8: looks begin at 3 seeds or more"),
    (("8..8",), "SEEDS=8..8: looks begin at 3 seeds or more and end at more"),
    (("8..101",), "SEEDS=8..101: looks begin at 3 seeds"),
    (("4..8", None, None, "factorial"), "SEEDS=4..8: only an arm that belongs to one enhancement can stop"),
    (("4..8", None, None, "add-one", ()), "SEEDS=4..8: only an arm that belongs to one"),
    (("4", "0.02"), "FUTILITY=0.02: there are no looks"),
    (("4..8", "x"), "FUTILITY=x: not a size of effects"),
    (("4..8", "-1"), "FUTILITY=-1: not a size of effects"),
    (("4..8", "inf"), "FUTILITY=inf: not a size of effects"),
    (("4..8", None, "9"), "CONTROL_SEEDS=9: a control runs as long as any arm"),
    (("4", None, "9", "cumulative"), "CONTROL_SEEDS=9: no arm is the control of all others"),
    (("4", None, "4"), "CONTROL_SEEDS=4: not more than the other arms have"),
    (("1,7", None, "4"), "CONTROL_SEEDS=4: not more than the other arms have"),
    (("4", None, "many"), "CONTROL_SEEDS=many: not a number of seeds"),
])  # fmt: skip
def test_mistakes_in_one_line(settings, said):
    with pytest.raises(SettingError) as error:
        asked(*settings)
    assert str(error.value).startswith(said)
