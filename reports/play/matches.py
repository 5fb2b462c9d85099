"""Matches of a workspace as tables: who took how many of which games, ratings, and what trained nets made of games with
engines."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from gonn_core.play.match.record import SIDES, Match, game_points, load_matches, player_id
from gonn_core.play.rules import RuleSet
from reports.play.ladder import Ladder, elo_text, load_ladders
from reports.play.players import choice_text, engine_level, is_net, names_in, rules_name, rules_text
from reports.play.rating import VIRTUAL_DRAWS, Ratings, Tally, rate, tally, wilson
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row


def per_cent(share: float) -> str:
    """`52.3 %`, between 0 and 100."""
    return f"{100 * min(1.0, max(0.0, share)):.1f} %"


def per_cents(ends: Iterable[float]) -> str:
    """`[50.1 %, 54.5 %]`."""
    return f"[{', '.join(map(per_cent, ends))}]"


_MATCHES = (
    Column("a", "player", "left"),
    Column("b", "against", "left", under="a"),
    Column("rules", "rules", "left"),
    Column("games", "games", show=formats.count),
    Column("points", "points", under="games", show="{:g}".format),
    Column("share", "share", show=per_cent),
    Column(
        "interval",
        "95 % interval",
        under="share",
        parts=interval95(),
        show=per_cents,
    ),
    Column("black", "as Black", brief=False),
    Column("white", "as White", brief=False, under="black"),
    Column("ends", "ends", "left", brief=False),
    Column("moves", "moves (median)", brief=False, show="{:.0f}".format),
    Column("voided", "voided", brief=False, under="moves", show=formats.count),
    Column("match", "match", "left"),
)
_ENDS = {
    "passes": "by two passes",
    "resign": "by resignation",
    "illegal": "by a refused move",
    "length": "at the move limit",
}
_RATINGS = (
    Column("number", "#", show="#{}".format),
    Column("player", "player", "left"),
    Column("elo", "Elo", show=elo_text),
    Column("interval", "± 95 %", show="{:.0f}".format),
    Column("games", "games", show=formats.count),
    Column("share", "points", show=per_cent),
)


def match_table(matches: Sequence[Match], names: Mapping[str, str]) -> Table:
    """A row per match, from A's side, with the rules where they are not the same in all. names: player id -> name."""
    rules = {rules_name(match.rules) for match in matches}
    columns = tuple(column for column in _MATCHES if len(rules) > 1 or column.key != "rules")
    rows = tuple(_match_row(match, names) for match in sorted(matches, key=lambda match: _order(match, names)))
    notes = [
        "Share of points, a draw counting half, with Wilson's 95 % interval: it is for further games of these players."
    ]
    notes += [f"Rules: {text}." for text in sorted({rules_text(match.rules) for match in matches})]
    if voided := sum(match.voided for match in matches):
        notes.append(
            f"{formats.count(voided)} game{'s were' if voided > 1 else ' was'} voided because an engine failed, and "
            "played anew."
        )
    refused = Counter(
        names[player_id(match.players["B" if game.winner == "A" else "A"])]
        for match in matches
        for game in match.games
        if game.end == "illegal"
    )
    if refused:
        counts = ", ".join(f"{number} of {name}" for name, number in sorted(refused.items()))
        notes.append(f"Refused moves, each of which lost its game: {counts}.")
    return Table("matches", "Matches", columns, rows, tuple(notes))


def _order(match: Match, names: Mapping[str, str]) -> list:
    """By names, numbers in them by their size: level 5 before level 10."""
    text = "\0".join([*(names[player_id(match.players[side])] for side in SIDES), match.id])
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]


def _match_row(match: Match, names: Mapping[str, str]) -> Row:
    games, points = len(match.games), match.points("A")
    ends: Counter[str] = Counter(game.end for game in match.games)
    values = {
        "a": names[player_id(match.players["A"])],
        "b": names[player_id(match.players["B"])],
        "rules": rules_name(match.rules).capitalize(),
        "games": games,
        "points": points,
        "share": points / games if games else None,
        "interval": list(wilson(points, games)) if games else None,
        "black": _of(match, "A"),
        "white": _of(match, "B"),
        "ends": Cell(
            ", ".join(f"{ends[end]} {text}" for end, text in _ENDS.items() if ends[end]) or formats.NONE,
            " ".join(f"{end} {ends[end]}" for end in _ENDS if ends[end]),
        ),
        "moves": median(game.moves for game in match.games) if games else None,
        "voided": match.voided,
        "match": match.id,
    }
    return make_row(_MATCHES, match.id, values)


def _of(match: Match, black: str) -> Cell:
    """A's points of the games in which that side had Black: `12/20`."""
    points = [game_points(game, "A") for game in match.games if game.black == black]
    return Cell(f"{sum(points):g}/{len(points)}", sum(points))


def rating_table(tally: Tally, ratings: Ratings, names: Mapping[str, str], matches: Sequence[Match]) -> Table:
    """A row per player, the strongest first, group by group where no games link them all, the one that played most
    before the others."""
    games, points = tally.games.sum(axis=1), tally.points
    group = [float(games[ratings.component == component].sum()) for component in ratings.component]
    order = sorted(
        range(len(tally.ids)),
        key=lambda player: (-group[player], int(ratings.component[player]), -ratings.elo[player], tally.ids[player]),
    )
    rows = []
    for place, player in enumerate(order, 1):
        half = ratings.half_width(player)
        values = {
            "number": place,
            "player": names[tally.ids[player]],
            "elo": float(ratings.elo[player]),
            "interval": Cell("anchor", half) if player in ratings.anchors else half,
            "games": int(games[player]),
            "share": points[player] / games[player] if games[player] else None,
        }
        rows.append(make_row(_RATINGS, tally.ids[player], values))
    anchors = [names[tally.ids[anchor]] for anchor in ratings.anchors]
    notes = [
        f"Elo relative to {anchors[0] if len(anchors) == 1 else 'one player of each group'}, with 95 % intervals of "
        f"the difference; Bradley-Terry with {VIRTUAL_DRAWS:g} virtual draw per player; {ratings.black_text}."
    ]
    if len(anchors) > 1:
        notes.append(
            f"No games link all players: they are {len(anchors)} groups that cannot be compared with each other, "
            f"with these at 0: {', '.join(anchors)}."
        )
    notes += [f"Rules: {'; in some matches: '.join(sorted({rules_text(match.rules) for match in matches}))}."]
    if voided := sum(match.voided for match in matches):
        notes.append(f"Voided games, in which an engine failed, do not count: {voided}.")
    return Table("ratings", "Ratings", _RATINGS, tuple(rows), tuple(notes))


def elo_of_nets(
    matches: Sequence[Match], samples: Mapping[str, int], nets: Mapping[str, str]
) -> tuple[dict[str, tuple[float, float]], str]:
    """Trial -> Elo of its net after so many samples with half of its 95 % interval, as the player with most games where
    several ways to choose were rated; and who is at 0."""
    if not matches:
        return {}, ""
    table = tally(matches)
    games = table.games.sum(axis=1)
    anchor = int(np.argmax(games))
    ratings = rate(table.taken, table.met, anchor)
    elos: dict[str, tuple[float, float]] = {}
    for player in np.argsort(games, kind="stable").tolist():  # later ones, with more games, replace earlier ones
        identity = table.identities[table.ids[player]]
        linked = games[player] > 0 and ratings.component[player] == ratings.component[anchor]
        if linked and is_net(identity) and samples.get(identity["trial"]) == identity["samples"]:
            elos[identity["trial"]] = (float(ratings.elo[player]), ratings.half_width(player))
    return elos, names_in(matches, nets)[table.ids[anchor]]


def _has_engine(match: Match) -> bool:
    return not all(map(is_net, match.players.values()))


@dataclass(frozen=True)
class Played:
    """Matches and ladders of a workspace."""

    matches: tuple[Match, ...] = ()
    ladders: tuple[Ladder, ...] = ()

    @property
    def of_two_kinds(self) -> list[Match]:
        """Matches with games whose sides choose their moves in two ways; those with engines too."""
        return [
            match
            for match in self.matches
            if match.games and (_has_engine(match) or match.players["A"]["choice"] != match.players["B"]["choice"])
        ]

    @property
    def with_engines(self) -> list[Match]:
        """Matches with games in which an engine took part."""
        return [match for match in self.matches if match.games and _has_engine(match)]


NOTHING_PLAYED = Played()


def load_played(matches_folder: Path, elo_folder: Path) -> Played:
    """What lies in these folders, which need not exist. Raises InputError for damaged files."""
    return Played(tuple(load_matches(matches_folder)), tuple(load_ladders(elo_folder, matches_folder)))


def against_engine(played: Played, trials: Mapping[str, int], engine: str, rules: RuleSet | None = None) -> Cell:
    """`level 1: 35 % (14/40), argmax` of nets after their last sample (trial -> samples) with an engine whose name
    begins so, strongest level first; their points are added up. rules: only games by these; None: all, with a label on
    those that are not Chinese. A dash without games."""
    sums: dict[tuple[str, str, str], tuple[float, int]] = {}
    used = set()
    for match in played.with_engines:
        by = rules_name(match.rules)
        for side, other in zip(SIDES, reversed(SIDES), strict=True):
            net, opponent = match.players[side], match.players[other]
            if (
                rules in (None, by)
                and is_net(net)
                and trials.get(net["trial"]) == net["samples"]
                and str(opponent.get("name", "")).lower().startswith(engine.lower())
            ):
                label = "" if by == rules or by == "chinese" else f"{by.capitalize()} rules"
                key = (engine_level(opponent) or "", choice_text(net), label)
                points, games = sums.get(key, (0.0, 0))
                sums[key] = (points + match.points(side), games + len(match.games))
                used.add(net["trial"])
    if not sums:
        return Cell(formats.NONE)
    texts, values = [], []
    for key in sorted(sums, key=lambda key: (-int(key[0]) if key[0].isdecimal() else 0, key)):
        (level, choice, label), (points, games) = key, sums[key]
        share = f"{100 * points / games:.0f} % ({points:g}/{games})"
        texts.append(", ".join(filter(None, (f"level {level}: {share}" if level else share, choice, label))))
        values.append([level, choice, points, games, *filter(None, [label])])
    return Cell("; ".join(texts), values, tuple(sorted(used)), escape=True)
