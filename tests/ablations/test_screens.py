"""Screens: what a design keeps apart, by brute force; which arms a pinned one has."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ablations.screens.arms import BLOCKS
from ablations.screens.fractions import LARGEST, Screen, least_arms, make_screen
from gonn_core.errors import SettingError
from tests.ablations.screened import PINNED, SEEDS


def no_conflict(one: str, other: str) -> bool:
    return False


def effects(screen: Screen) -> np.ndarray:
    """(cards, arms): 1 as in the base, -1 changed, 0 where a card is not varied."""
    return np.array(
        [
            [
                (-1 if card in changed else 1) if fraction in column.fractions else 0
                for changed, fraction in zip(screen.changed, screen.fraction_of, strict=True)
            ]
            for card, column in screen.columns.items()
        ]
    )


def names(count: int) -> list[str]:
    return [f"card{number:02d}" for number in range(count)]


def exclusive(*groups):
    """Whether two cards are in one of the groups."""
    return lambda one, other: any({one, other} <= set(group) for group in groups)


def assert_sound(screen: Screen, conflict) -> None:
    """Orthogonal main effects, clear of every interaction of two; no arm twice, none that cannot be."""
    columns = effects(screen)
    assert not screen.changed[0] and len(set(screen.changed)) == screen.arms
    assert not any(conflict(*pair) for changed in screen.changed for pair in itertools.combinations(changed, 2))
    gram = columns @ columns.T
    assert np.array_equal(gram, np.diag(np.diag(gram))) and not columns.sum(axis=1).any()
    shares = {column.fractions: np.abs(row).sum() for column, row in zip(screen.columns.values(), columns, strict=True)}
    assert all(count == screen.arms * len(fractions) // screen.fractions for fractions, count in shares.items())
    for row in columns:  # resolution IV: no product of a main effect with an interaction of two has a sum
        triples = (columns * row) @ columns.T
        assert not (triples - np.diag(np.diag(triples))).any()


def assert_balanced(screen: Screen) -> None:
    """Where an arm has one seed only, each seed has as many arms with a card as without it, and each card is varied in
    as many arms of every seed, where there are two for each seed and fraction."""
    columns = effects(screen)
    for count in BLOCKS:
        seeds = np.array([screen.seeds_of(arm, range(count), screen.arms) for arm in range(screen.arms)])[:, 0]
        for seed in range(count):
            assert (seeds == seed).sum() == screen.arms // count and not columns[:, seeds == seed].sum(axis=1).any()
            varied = np.abs(columns[:, seeds == seed]).sum(axis=1)
            if screen.arms >= 2 * count * screen.fractions:
                assert (varied * count == np.abs(columns).sum(axis=1)).all()


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9, 16, 17, 33, 64])
def test_cards_that_go_together(count):
    screen = make_screen(names(count), no_conflict)
    assert screen.arms == least_arms(count) and 2 * count <= screen.arms < 4 * count
    assert screen.fractions == 1 and all(column.fractions == {0} for column in screen.columns.values())
    assert_sound(screen, no_conflict)
    assert_balanced(screen)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_cards_that_exclude_each_other_are_varied_in_fractions_of_their_own(size):
    cards = names(12)
    conflict = exclusive(cards[3 : 3 + size], cards[9:11])
    screen = make_screen(cards, conflict)
    fractions = [screen.columns[card].fractions for card in cards[3 : 3 + size]]
    assert screen.fractions == (2 if size == 2 else 4)
    assert sorted(itertools.chain(*fractions)) == list(range(screen.fractions))  # each in one card's alone
    assert_sound(screen, conflict)
    assert_balanced(screen)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 60), st.lists(st.tuples(st.integers(2, 4), st.integers(0, 59)), max_size=5))
def test_any_screen_is_sound(count, placed):
    cards = names(count)
    taken: set[int] = set()
    groups = []
    for size, start in placed:
        members = set(range(start, start + size))
        if start + size <= count and not members & taken:
            taken |= members
            groups.append([cards[member] for member in sorted(members)])
    conflict = exclusive(*groups)
    try:
        screen = make_screen(cards, conflict)
    except SettingError as error:
        assume("which makes too many" not in error.problem and "enhancements" not in error.problem)
        raise
    assert_sound(screen, conflict)
    assert_balanced(screen)


def test_designs_that_cannot_be():
    with pytest.raises(SettingError, match="2 enhancements; valid: 3 to 64"):
        make_screen(names(2), no_conflict)
    with pytest.raises(SettingError, match="65 enhancements; valid: 3 to 64"):
        make_screen(names(LARGEST + 1), no_conflict)
    with pytest.raises(SettingError, match="cannot be changed together; valid: at most 4 of them"):
        make_screen(names(9), exclusive(names(5)))
    with pytest.raises(SettingError, match="4 of them exclude others, which makes too many for the 0 that go with all"):
        make_screen(names(4), exclusive(names(2), names(4)[2:]))


def test_cards_that_go_with_all_are_spread_where_arms_would_repeat():
    cards = names(9)
    conflict = exclusive(cards[:4])
    default = make_screen([*cards, "more"], conflict)
    assert_sound(default, conflict)
    assert_sound(make_screen(cards, conflict), conflict)


def test_the_pinned_screen_stays_as_it_is():
    """Ids of trained runs depend on which cards an arm has changed, and on its seed."""
    screen = make_screen(list(PINNED), exclusive(("global_pooling_head", "stdev_pooling")))
    changed = {card: "".join(".x"[card in each] for each in screen.changed) for card in PINNED}
    assert changed == PINNED
    assert "".join(str(screen.seeds_of(arm, (1, 2), 32)[0]) for arm in range(32)) == SEEDS


@pytest.mark.parametrize("count", range(9, 16))
def test_a_screen_with_one_more_card_has_half_of_its_runs_already(count):
    def runs(cards):
        screen = make_screen(cards, no_conflict)
        assert screen.arms == 32
        return {(changed, screen.seeds_of(arm, (1, 2), 32)) for arm, changed in enumerate(screen.changed)}

    assert len(runs(names(count)) & runs(names(count + 1))) >= 16
