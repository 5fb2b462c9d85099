"""`gonn elo`: snapshots of a run, and further nets, play their neighbours until their strength is known; then the
strongest play GNU Go."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.data.datasets import dataset_label
from ablations.registry import load_registry
from ablations.study import read_study
from gonn_core.config import parse_config
from gonn_core.errors import Damaged, InputError, SettingError, UserError
from gonn_core.files.json_files import tell, write_json
from gonn_core.play.engines.players import parse_engine
from gonn_core.play.match.players import NetSpec, Player, load_player, parse_player
from gonn_core.play.match.record import Match, Side, game_points, player_id
from gonn_core.play.net_player import MoveChoice
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import read_job, whole_batches
from orchestration.console import notes, output
from orchestration.play.match import play_between
from orchestration.play.ratings import net_names
from orchestration.study.folder import all_studies, find_trial
from reports.book.elo import write_ladders
from reports.play.ladder import (
    FILE,
    Ladder,
    LadderFile,
    Rung,
    Settings,
    ladder_id,
    ladder_table,
    ladder_text,
    read_ladder,
)
from reports.play.players import player_names
from reports.results.nets import net_cost, structure
from reports.tables.formats import count
from reports.tables.writers import print_table
from reports.workspace import Workspace

FEWEST_SAMPLES = 10_000
"""Earlier snapshots hardly play Go."""
FIRST_GAMES = 100
"""Of a pair that has not met: enough to estimate how many it needs."""
LEAST_MORE = 20
_GROWTH = 4
"""A pair at most grows so much at a time: with few games their interval is a rough guess."""
_SPARE = 1.05
LEVELS = (1, 5, 10)
"""Of GNU Go; 10 is its own and the published opponent's."""
TRIED_GAMES = 10
FEWEST_POINTS = 2
"""Of TRIED_GAMES: the next weaker net is tried as well."""


@dataclass(frozen=True)
class EloRequest:
    """Settings of the command line."""

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


@dataclass(frozen=True)
class LadderNet:
    """A rung with the spec it plays by."""

    rung: Rung
    spec: NetSpec


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
    nets = ladder_nets(workspace, [*snapshot_specs(trial, request.sizes), *named_specs(workspace, request.with_)], say)
    record = _LadderRecord(workspace, _planned(request, trial, nets))
    rungs, specs = record.file.rungs, [net.spec for net in nets]
    say(f"ladder {record.file.id}: {', '.join(rung.name for rung in rungs)}")
    while pairs := games_needed(ladder := record.read()):
        for lower, total in pairs:
            games, half = record.read().neighbours()[lower]
            so_far = f", so far ±{half:.0f} Elo after {games:.0f}" if games and half is not None else ""
            say(f"{rungs[lower + 1].name} – {rungs[lower].name}: {count(total)} games{so_far}")
            record.add(match_of({"A": specs[lower + 1], "B": specs[lower]}, total, request.seed))
    if request.link_games:
        order = sorted(ladder.rated(), key=lambda number: -float(ladder.ratings.elo[number]))

        def play(place: int, level: int, total: int) -> Match:
            say(f"{rungs[order[place]].name} – GNU Go level {level}: {count(total)} games")
            sides: dict[Side, Player] = {"A": specs[order[place]], "B": parse_engine(f"gnugo:{level}")}
            return record.add(match_of(sides, total, request.seed))

        play_engine(len(order), play, max(request.link_games, TRIED_GAMES))
    return record.read()


class _LadderRecord:
    """elo.json as it grows: a match is noted as soon as it has games."""

    def __init__(self, workspace: Workspace, planned: LadderFile):
        self._workspace, self._path = workspace, workspace.elo / planned.id / FILE
        self.file = planned
        if self._path.exists():
            try:
                before = self.read().file
                self.file = planned.model_copy(update={"matches": before.matches})
            except Damaged as damage:  # its matches are named by what is in them: they are found again
                tell(damage, "it is made again")
        self._write()

    def read(self) -> Ladder:
        return read_ladder(self._path, self._workspace.matches)

    def add(self, match: Match) -> Match:
        matches = tuple(dict.fromkeys((*self.file.matches, match.id)))
        self.file = self.file.model_copy(update={"matches": matches})
        self._write()
        return match

    def _write(self) -> None:
        write_json(self._path, self.file.model_dump(mode="json"))


def _planned(request: EloRequest, trial: Path, nets: Sequence[LadderNet]) -> LadderFile:
    rungs = tuple(net.rung for net in nets)
    data, coverage = _trained_on(trial, request.data)
    title = f"{request.base}, {request.budget}, {data}, seed {request.seed}"
    return LadderFile(
        id=ladder_id([rung.player for rung in rungs], request.seed),
        title=f"trial {trial.name}, {data}" if trial.name.startswith(request.base) else title,
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


def games_needed(ladder: Ladder) -> list[tuple[int, int]]:
    """(number of the lower rung, games in all that it should have with the next), of the pairs that have not enough.

    Enough: half of the 95 % interval of their difference is within the ladder's setting, or they played the most games
    there may be.
    """
    settings, pairs = ladder.file.settings, []
    for lower, (games, half) in enumerate(ladder.neighbours()):
        if games >= settings.most or (games > 0 and half is not None and half <= settings.within):
            continue
        total = FIRST_GAMES
        if games and half is not None:
            needed = math.ceil(_SPARE * games * (half / settings.within) ** 2)
            total = int(min(max(needed, games + LEAST_MORE), _GROWTH * games))
        pairs.append((lower, min(total, settings.most)))
    return pairs


def play_engine(nets: int, play: Callable[[int, int, int], Match], games: int) -> None:
    """Games of a ladder's nets with GNU Go, A in these matches. At each level a few games of the strongest, and of the
    next ones while the last took FEWEST_POINTS; more of those that took some points and not all. play: (place of the
    net, the strongest first, level, games in all) -> the match."""
    for level in LEVELS:
        for place in range(nets):
            # the first games alone: where more were played by now, who plays more stays as it was
            first = [game for game in play(place, level, TRIED_GAMES).games if game.game < TRIED_GAMES]
            points = sum(game_points(game, "A") for game in first)
            if 0 < points < len(first):
                play(place, level, games)
            if points < FEWEST_POINTS:
                break
        if place == points == 0:  # nothing to win at a higher level
            break


def base_trial(workspace: Workspace, base: str, data: str, budget: str, seed: int) -> Path:
    """The finished trial of a base as it stands, from a study, or of that id. Raises SettingError."""
    registry = load_registry()
    if base not in registry.bases and re.fullmatch("[0-9a-f]{6,16}", base):
        return find_trial(workspace, base, "BASE")
    studies = [study for study in reversed(all_studies(workspace)) if not study.first_look]
    if not any(study.base == base for study in studies):
        base = registry.base(base).id
    # Those at the base's own rate first, then those of the budget's samples.
    for study in sorted(studies, key=lambda study: (study.lr is not None, study.samples is not None)):
        if (study.base, study.budget_label, study.data) == (base, budget, data):
            for ref in study.trials:
                path = workspace.runs / ref.trial
                if ref.seed == seed and not study.arm(ref.arm).values and TrialDirectory(path).state() == "done":
                    return path
    registry.budget(budget)  # a name that is none has an error of its own
    raise SettingError(
        "BASE",
        base,
        f"no finished trial of it on {data} games at budget {budget} with seed {seed}",
        "a trained base or the id of a trial; gonn train or make ablation trains one",
    )


def snapshot_specs(trial: Path, sizes: str | None) -> list[NetSpec]:
    """Snapshots of a trial as players with the published choice; sizes: which, such as `10k,100k`, None: all from
    10,000 samples on. Raises UserError."""
    directory = TrialDirectory(trial)
    snapshots = [samples for samples in directory.snapshots() if samples >= FEWEST_SAMPLES]
    chosen = snapshots
    if sizes is not None:
        numbers = [re.fullmatch("([0-9]+)([km]?)", size.strip().lower()) for size in sizes.split(",")]
        if None in numbers:
            raise SettingError("--sizes", sizes, "not numbers of samples", "such as 10k,20k,50k,100k")
        config = directory.config()
        if config is None:
            raise InputError(trial, "no trial directory (no config.json)")
        batch, factors = parse_config(config["config"]).training.batch_size, {"": 1, "k": 1_000, "m": 1_000_000}
        chosen = [whole_batches(int(size[1]) * factors[size[2]], batch) for size in numbers if size]
    if missing := [samples for samples in chosen if samples not in snapshots]:
        problem = f"trial {trial.name} has no snapshots at {', '.join(map(str, missing))} samples"
        raise SettingError("--sizes", sizes, problem, snapshots or "none")
    if not chosen:
        raise InputError(trial, f"no snapshot of {FEWEST_SAMPLES:,} samples or more: a ladder needs a longer budget")
    return [NetSpec(trial, samples, MoveChoice()) for samples in chosen]


def named_specs(workspace: Workspace, texts: Sequence[str]) -> list[NetSpec]:
    """Nets named as for gonn match. Raises SettingError (--with) for an engine."""
    specs = []
    for text in texts:
        spec = parse_player(text, lambda beginning: find_trial(workspace, beginning, "--with"))
        if not isinstance(spec, NetSpec):
            raise SettingError("--with", text, "no trained net", "TRIAL[@samples][,choice=argmax]…")
        specs.append(spec)
    return specs


def ladder_nets(workspace: Workspace, specs: Sequence[NetSpec], say: Callable[[str], None]) -> list[LadderNet]:
    """The nets in the order of a ladder: by their loss on test games, the weakest first. Evaluates snapshots that were
    not yet. Raises UserError."""
    unique = {player_id(identity): (spec, identity) for spec in specs for identity in [load_player(spec)[1]]}
    if len(unique) < 2:
        raise UserError("a ladder needs two nets at least: add a snapshot (--sizes) or a net (--with TRIAL)")
    names = player_names([identity for _, identity in unique.values()], net_names(workspace))
    nets, subsets = [], set()
    for player, (spec, identity) in unique.items():
        config = read_job(spec.directory / "config.json").config
        evaluation = _evaluated(workspace, spec.directory, identity["samples"], names[player], say)
        subsets.add(evaluation["subset"])
        rung = Rung(
            name=names[player],
            player=identity,
            structure=structure(config.net),
            parameters=net_cost(config)[0],
            nats=evaluation["nats"],
            top1=evaluation["top1"],
            positions=evaluation["positions"],
            test_games=evaluation["games"],
        )
        nets.append(LadderNet(rung, spec))
    if len(subsets) > 1:
        raise UserError("these nets were evaluated on different test games: a ladder needs one measure of their loss")
    return sorted(nets, key=lambda net: (-net.rung.nats, net.rung.id))


def _evaluated(workspace: Workspace, folder: Path, samples: int, name: str, say: Callable[[str], None]) -> dict:
    """Summary of a snapshot's evaluation on the test games that its trial was evaluated on, with full history."""
    from gonn_core.trial.evaluations import find_evaluation
    from gonn_core.trial.run import run_trial

    job = read_job(folder / "config.json")
    finals = [request for request in job.run.evaluations if request.samples is None]
    final = next((request for request in finals if (request.split, request.history) == ("test", "full")), None)
    if final is None:
        raise SettingError(
            "BASE",
            job.id,
            "this trial was never evaluated on test games with full history",
            "a trial of a study",
        )
    if folder.name != job.id:
        raise InputError(folder, f"holds trial {job.id}: a trial's directory has its name")
    request = final.model_copy(update={"samples": samples})
    changes = {
        "runs": str(folder.parent),
        "store": str(workspace.stores / Path(job.run.store).name),
        "evaluations": (request,),
    }
    evaluation = job.model_copy(update={"run": job.run.model_copy(update=changes)})
    if find_evaluation(TrialDirectory(folder), evaluation, request) is None:
        say(f"evaluating {name}")
    return run_trial(evaluation)["evaluations"][0]
