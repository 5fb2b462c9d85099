"""`gonn elo`: snapshots of a run, and further nets, play their neighbours until their strength is known; then one of
them plays GNU Go."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ablations.data.datasets import dataset_label
from ablations.registry import load_registry
from ablations.study import read_study
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell, write_json
from gonn_core.play.engines.commands import parse_engine
from gonn_core.play.match.players import NetSpec
from gonn_core.play.match.record import Match, Side, game_points
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.play.playing import Player, play_between
from orchestration.play.rungs import LadderNet, base_trial, ladder_nets, named_specs, snapshot_specs
from reports.book.elo import write_ladders
from reports.play.ladder import (
    FILE,
    Ladder,
    LadderFile,
    Link,
    Rung,
    Settings,
    ladder_id,
    ladder_table,
    ladder_text,
    read_ladder,
)
from reports.play.players import engine_text
from reports.tables.formats import count
from reports.tables.terminal import print_table
from reports.workspace import Workspace

FIRST_GAMES = 100
"""Of a pair that has not met: enough to tell about how many it needs."""
LEAST_MORE = 20
_GROWTH = 4
"""A pair at most grows so much at a time: with few games their interval is a rough guess."""
_SPARE = 1.05
LEVELS = (1, 4, 7, 10)
"""Tried from the weakest on; 10 is GNU Go's own and the published opponent's."""
TRIED_GAMES = 10


@dataclass(frozen=True)
class EloRequest:
    """What was asked for, as given on the command line."""

    base: str
    data: str = "starter"
    budget: str = "cpu"
    seed: int = 1
    sizes: str | None = None
    with_: tuple[str, ...] = ()
    games: int = 3000
    within: float = 60.0
    link_games: int = 60
    workers: int | None = None
    out: Path | None = None
    """Where to write the page of this ladder as well."""


Play = Callable[[Mapping[Side, Player], int, int], Match]
"""Makes the match of players A and B with a seed have so many games: sides, games, seed -> the match."""


def run_elo(request: EloRequest) -> int:
    """Play a ladder, print it. The same command resumes where it was stopped; once all is played it plays nothing
    more."""
    workspace = Workspace.here()
    if request.link_games:
        parse_engine(f"gnugo:{LEVELS[0]}")  # fails now rather than after hours of play

    def play(sides: Mapping[Side, Player], games: int, seed: int) -> Match:
        return play_between(workspace, sides, games, seed, workers=request.workers)

    ladder = play_ladder(workspace, request, play, notes().print)
    for text in ladder_text(ladder):
        output().print(text)
    print_table(ladder_table(ladder), output())
    if request.out is not None:
        output().print(f"page: {write_ladders([ladder], load_registry(), request.out)}")
    folder = workspace.elo / ladder.file.id
    output().print(f"ladder {ladder.file.id} in {folder}; gonn report puts it into the report over everything")
    return 0


def play_ladder(workspace: Workspace, request: EloRequest, match_of: Play, say: Callable[[str], None]) -> Ladder:
    """The ladder of a request with games enough. Raises UserError."""
    trial = base_trial(workspace, request.base, dataset_label(request.data), request.budget, request.seed)
    specs = [*snapshot_specs(trial, request.sizes), *named_specs(workspace, request.with_)]
    nets = ladder_nets(workspace, specs, say)
    record = _LadderRecord(workspace, _planned(request, trial, nets))
    say(f"ladder {record.file.id}: {', '.join(rung.name for rung in record.file.rungs)}")
    spec_of = {net.rung.id: net.spec for net in nets}

    def play(stronger: Rung, weaker: Rung, total: int) -> None:
        ladder = record.read()
        games, half_interval = ladder.neighbours()[ladder.file.rungs.index(weaker)]
        so_far = f", so far ±{half_interval:.0f} Elo after {games:.0f}" if games and half_interval is not None else ""
        say(f"{stronger.name} – {weaker.name}: {count(total)} games{so_far}")
        record.add(match_of({"A": spec_of[stronger.id], "B": spec_of[weaker.id]}, total, request.seed))

    ladder = climb(record.read, play)
    if request.link_games:
        _link(record, ladder, spec_of, match_of, request, say)
    return record.read()


class _LadderRecord:
    """elo.json as it grows: a match is noted as soon as it has games."""

    def __init__(self, workspace: Workspace, planned: LadderFile):
        self._workspace, self._path = workspace, workspace.elo / planned.id / FILE
        self.file = planned
        if self._path.exists():
            try:
                before = read_ladder(self._path, workspace.matches).file
                self.file = planned.model_copy(update={"matches": before.matches, "link": before.link})
            except Damaged as damage:  # its matches are named by what is in them: they are found again
                tell(damage, "it is made again")
        self._write()

    def read(self) -> Ladder:
        return read_ladder(self._path, self._workspace.matches)

    def add(self, match: Match) -> Match:
        self.file = self.file.model_copy(update={"matches": tuple(dict.fromkeys((*self.file.matches, match.id)))})
        self._write()
        return match

    def set_link(self, link: Link) -> None:
        self.file = self.file.model_copy(update={"link": link})
        self._write()

    def _write(self) -> None:
        write_json(self._path, self.file.model_dump(mode="json"))


def _planned(request: EloRequest, trial: Path, nets: list[LadderNet]) -> LadderFile:
    rungs = tuple(net.rung for net in nets)
    data, coverage = _trained_on(trial, request.data)
    named_by_id = trial.name.startswith(request.base)
    return LadderFile(
        id=ladder_id([rung.player for rung in rungs], request.seed),
        title=f"trial {trial.name}, {data}"
        if named_by_id
        else f"{request.base}, {request.budget}, {data}, seed {request.seed}",
        data=data,
        coverage=coverage,
        history="full",
        rungs=rungs,
        settings=Settings(within=request.within, most=request.games, seed=request.seed),
        matches=(),
    )


def _trained_on(trial: Path, default: str) -> tuple[str, str]:
    """Data set and its coverage, as the trial's study or its own label says; `default` for a trial without either."""
    labels = (TrialDirectory(trial).config() or {}).get("labels", {})
    path = trial.parent.parent / "studies" / labels.get("study", "") / "study.json"
    if "study" in labels and path.exists():
        study = read_study(path)
        return study.data, study.coverage
    coverage = labels.get("data", default)
    return coverage.split(",")[0], coverage


def _link(
    record: _LadderRecord,
    ladder: Ladder,
    spec_of: dict[str, NetSpec],
    match_of: Play,
    request: EloRequest,
    say: Callable[[str], None],
) -> None:
    """Games of the strongest rung with GNU Go: a few at each level, more at the most informative one. Games at all
    levels count."""
    strongest = max(ladder.rated(), key=lambda number: float(ladder.ratings.elo[number]))
    rung = ladder.file.rungs[strongest]

    def play(level: int, total: int) -> Match:
        say(f"{rung.name} – GNU Go level {level}: {count(total)} games")
        return record.add(match_of({"A": spec_of[rung.id], "B": parse_engine(f"gnugo:{level}")}, total, request.seed))

    tried = try_levels(play)
    best = best_level(tried)
    if best is None:
        record.set_link(Link(player=None, rung=rung.name, note=no_link(rung.name, tried)))
        return
    match = play(best.level, max(request.link_games, TRIED_GAMES))
    engine = match.players["B"]
    record.set_link(Link(player=engine, rung=rung.name, note=link_sentence(rung.name, engine_text(engine), match)))


def games_wanted(ladder: Ladder) -> list[tuple[int, int]]:
    """(number of the lower rung, games in all that it should have with the next), of the pairs that have not enough.

    Enough: half of the 95 % interval of their difference is within the ladder's setting, or they played the most games
    there may be.
    """
    settings, wanted = ladder.file.settings, []
    for lower, (games, half) in enumerate(ladder.neighbours()):
        if games >= settings.most or (games > 0 and half is not None and half <= settings.within):
            continue
        if games == 0 or half is None:
            total = FIRST_GAMES
        else:
            needed = math.ceil(_SPARE * games * (half / settings.within) ** 2)
            total = int(min(max(needed, games + LEAST_MORE), _GROWTH * games))
        wanted.append((lower, min(total, settings.most)))
    return wanted


def climb(current: Callable[[], Ladder], play: Callable[[Rung, Rung, int], None]) -> Ladder:
    """Let neighbours play until all have games enough; the ladder then. current: the ladder with the games so far;
    play: makes the match of the stronger and the weaker have so many games."""
    while True:
        ladder = current()
        wanted = games_wanted(ladder)
        if not wanted:
            return ladder
        for lower, total in wanted:
            play(ladder.file.rungs[lower + 1], ladder.file.rungs[lower], total)


@dataclass(frozen=True)
class TriedLevel:
    """The first games with one level: points of the rung."""

    level: int
    points: float
    games: int

    @property
    def open(self) -> bool:
        """Whether the results are away from 0 and 100 %."""
        return 0 < self.points < self.games

    @property
    def share(self) -> float:
        return self.points / self.games


def try_levels(play: Callable[[int, int], Match]) -> list[TriedLevel]:
    """A few games with each level, up to the first that the rung does not win half of. play: (level, games in all) ->
    the match, the rung as A.

    A level of which no game came to a result ends it too.
    """
    tried = []
    for level in LEVELS:
        # the first games alone: where more were played by now, the choice of a level stays as it was
        first = [game for game in play(level, TRIED_GAMES).games if game.game < TRIED_GAMES]
        if not first:
            break
        tried.append(TriedLevel(level, sum(game_points(game, "A") for game in first), len(first)))
        if tried[-1].share < 0.5:
            break
    return tried


def best_level(tried: list[TriedLevel]) -> TriedLevel | None:
    """The level whose results are nearest to even; None when all are 0 or 100 %."""
    open_levels = [level for level in tried if level.open]
    return min(open_levels, key=lambda level: (abs(level.share - 0.5), level.level), default=None)


def no_link(name: str, tried: list[TriedLevel]) -> str:
    """The sentence of a ladder that no level links."""
    if not tried:
        return f"No link to GNU Go: no game of {name} with it came to a result."
    results = ", ".join(f"{level.points:g} of {level.games} at level {level.level}" for level in tried)
    return f"No link to GNU Go: {name} took {results}; nothing between 0 and 100 %."


def link_sentence(name: str, engine: str, match: Match) -> str:
    """The sentence of a ladder that is linked."""
    return f"Linked to {engine} by {len(match.games)} games of {name}, which took {match.points('A'):g} points."
