"""Two-level fractional factorials of resolution IV over many cards at once.

A screen of k cards trains A arms, A the smallest power of two that is at least 2k: the rows of a Hadamard matrix of
order A/2 and, folded over, their opposites. No main effect is aliased with an interaction of two cards; those are
aliased with each other in strings. The first row of all is the base itself, so the control of other studies is an arm
of the screen; the columns of the first k cards stay where they are when a card is added, so trials are used again.

Cards that cannot be changed in one arm (they set the same thing, exclude or need each other) go to different
fractions: each is varied in one half (or quarter) of the arms and stays as in the base elsewhere.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gonn_core.errors import SettingError

LEAST, LARGEST = 3, 64
"""Cards at least (two make a whole factorial) and at most: 128 arms."""
FRACTIONS = 4
"""Cards that exclude each other, at most."""


@dataclass(frozen=True)
class FractionColumn:
    """Where a card stands in the design.

    index: of the Hadamard matrix; group: the cards of which only one is changed in an arm, this one among them;
    fractions: numbers of the fractions (0 .. `Screen.fractions` - 1) in which it is varied.
    """

    index: int
    group: tuple[str, ...]
    fractions: frozenset[int]


@dataclass(frozen=True)
class Screen:
    """A design: for each arm the cards that are changed from the base, and its fraction; the base first.

    columns: by card, in the order given; fractions: 1, 2 or 4; blocks: the indices of the strings by which arms are
    split into seeds where an arm has one only: not those of the fractions, as far as there are others, so that each
    card is varied in runs of every seed.
    """

    columns: Mapping[str, FractionColumn]
    changed: tuple[frozenset[str], ...]
    fraction_of: tuple[int, ...]
    fractions: int
    blocks: tuple[int, ...]

    @property
    def arms(self) -> int:
        """Number of arms."""
        return len(self.changed)

    def seeds_of(self, arm: int, seeds: Sequence[int], runs: int) -> tuple[int, ...]:
        """The seeds with which an arm is trained: all of them where each arm is trained `runs / arms` > 1 times, else
        the one of its block."""
        if runs > self.arms:
            return tuple(seeds)
        count = len(seeds)
        return (seeds[_block(arm, self.arms // 2, self.blocks[: count.bit_length() - 1])],)


def least_arms(cards: int) -> int:
    """Arms of the smallest screen of so many cards; at least 8."""
    return max(8, 2 << max(0, cards - 1).bit_length())


def make_screen(cards: Sequence[str], conflict: Callable[[str, str], bool]) -> Screen:
    """The screen of these cards; `conflict`: whether two of them cannot be changed in one arm.

    Raises SettingError for fewer than three cards, more than `LARGEST`, more than `FRACTIONS` that exclude each other,
    and for so many that do, with so few that do not, that fractions would repeat arms of each other.
    """
    groups = exclusive_groups(cards, conflict)
    largest = max((len(group) for group in groups), default=0)
    if largest > FRACTIONS:
        group = next(group for group in groups if len(group) == largest)
        raise SettingError("NAME", "+".join(group), "cannot be changed together", f"at most {FRACTIONS} of them")
    fractions = 1 if largest < 2 else 2 if largest == 2 else 4
    half = least_arms(sum(group_width(group) for group in groups)) // 2
    if len(cards) < LEAST or half > LARGEST:
        raise SettingError("NAME", "+".join(cards), f"{len(cards)} enhancements", f"{LEAST} to {LARGEST} for a screen")
    # The widest groups come first, else the order given counts, each in the first free columns that the block strings
    # map onto each other: the effect of a card within its fraction is then clear of the other main effects. Where an
    # arm would come up twice, cards that go with all others get the columns that tell most arms apart.
    screens = (_screen(cards, groups, half, fractions, spread) for spread in (False, True))
    for screen in screens:
        if len(set(screen.changed)) == screen.arms:
            return screen
    alone = sum(len(group) == 1 for group in groups)
    problem = f"{len(cards) - alone} of them exclude others, which makes too many for the {alone} that go with all"
    raise SettingError("NAME", "+".join(cards), problem, "fewer that exclude each other, or DESIGN=add-one")


def _screen(cards: Sequence[str], groups: Sequence[tuple[str, ...]], half: int, fractions: int, spread: bool) -> Screen:
    blocks = (half - 1, half - 2, half - 3, half - 5)[: half.bit_length() - 1]
    rows, parts = _rows(half), fractions.bit_length() - 1
    fraction_of = tuple(_block(arm, half, blocks[:parts]) for arm in range(2 * half))
    changed: list[frozenset[str]] = [frozenset()] * (2 * half)

    def with_group(group: Mapping[str, FractionColumn]) -> list[frozenset[str]]:
        """The arms' changed cards with a group's."""
        return [
            before | {
                card for card, column in group.items()
                if rows[arm][column.index] < 0 and fraction_of[arm] in column.fractions
            }
            for arm, before in enumerate(changed)
        ]  # fmt: skip

    columns: dict[str, FractionColumn] = {}
    taken: set[int] = set()
    for group in sorted(groups, key=group_width, reverse=True):
        width = group_width(group)
        span = [0, blocks[0], blocks[1], blocks[0] ^ blocks[1]][:width]
        free = [index for index in range(half) if not taken & {index ^ string for string in span}]
        places = [_placed(group, index, fractions) for index in (free if spread and width == 1 else free[:1])]
        best = max(places, key=lambda place: len(set(with_group(place))))
        changed = with_group(best)
        columns |= best
        taken |= {best[group[0]].index ^ string for string in span}
    of_seeds = (*blocks[parts:], *blocks[:parts])
    return Screen({card: columns[card] for card in cards}, tuple(changed), fraction_of, fractions, of_seeds)


def _placed(group: Sequence[str], index: int, fractions: int) -> dict[str, FractionColumn]:
    """A group's columns at an index, each card varied in fractions of its own."""
    width = group_width(group)
    return {
        card: FractionColumn(
            index,
            tuple(group),
            frozenset(part for part in range(fractions) if part % width % len(group) == place),
        )
        for place, card in enumerate(group)
    }


def _rows(half: int) -> list[list[int]]:
    """The Hadamard matrix and its opposite: row 0 is all +."""
    from scipy.linalg import hadamard  # a tenth of a second, only for screens

    rows = hadamard(half).tolist()
    return rows + [[-sign for sign in row] for row in rows]


def _block(arm: int, half: int, strings: Sequence[int]) -> int:
    """Number of an arm's block among 2^len(strings): string s has the sign of the product of columns 0 and s, which
    folding over leaves as it is."""
    return sum(((arm % half & string).bit_count() & 1) << bit for bit, string in enumerate(strings))


def group_width(group: Sequence[str]) -> int:
    """Columns that cards which exclude each other take: 1, 2 or 4."""
    return 1 << (len(group) - 1).bit_length()


def exclusive_groups(cards: Sequence[str], conflict: Callable[[str, str], bool]) -> list[tuple[str, ...]]:
    """Connected cards of the graph of conflicts, in the order given."""
    group_of = {card: {card} for card in cards}
    for one, other in itertools.combinations(cards, 2):
        if group_of[one] is not group_of[other] and conflict(one, other):
            group_of[one] |= group_of[other]
            for card in group_of[other]:
                group_of[card] = group_of[one]
    return list(dict.fromkeys(tuple(card for card in cards if card in group_of[each]) for each in cards))
