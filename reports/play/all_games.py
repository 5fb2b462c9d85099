"""All that was played in a workspace: matches and ladders; what trained nets made of games with engines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.study import Study
from gonn_core.play.match.record import SIDES, Match, load_matches
from gonn_core.play.rules import RuleSet
from reports.play.ladder import Ladder, load_ladders
from reports.play.players import choice_text, engine_level, is_net
from reports.play.ratings import rules_name
from reports.tables import formats
from reports.tables.cells import Cell


@dataclass(frozen=True)
class Played:
    """Matches and ladders of a workspace."""

    matches: tuple[Match, ...] = ()
    ladders: tuple[Ladder, ...] = ()

    @property
    def with_engines(self) -> list[Match]:
        """Matches with games in which an engine took part."""
        return [
            match for match in self.matches if match.games and not all(is_net(match.players[side]) for side in SIDES)
        ]


NOTHING_PLAYED = Played()


def load_played(matches_folder: Path, elo_folder: Path) -> Played:
    """What lies in these folders, which need not be there. Raises InputError for damaged files."""
    return Played(tuple(load_matches(matches_folder)), tuple(load_ladders(elo_folder, matches_folder)))


def trial_names(studies: Sequence[Study]) -> dict[str, str]:
    """Trial -> `gonn-b5 s1` or `gonn-b5 without last_move_input s1`, as the first study that has it calls it."""
    names: dict[str, str] = {}
    for study in studies:
        for trial in study.trials:
            arm = study.arm(trial.arm)
            net = f"{study.base} {arm.label}" if arm.values else study.base
            names.setdefault(trial.trial, f"{net} s{trial.seed}")
    return names


def against_engine(played: Played, trials: Mapping[str, int], engine: str, rules: RuleSet | None = None) -> Cell:
    """`level 1: 35 % (14/40), argmax` of nets after their last sample (trial -> samples) with an engine whose name
    begins so, strongest level first; their points are added up. rules: only games by these; None: all, with a label on
    those that are not Chinese. A dash without games."""
    sums: dict[tuple[str, str, str], tuple[float, int]] = {}
    used = set()
    for match in played.with_engines:
        by = rules_name(match.rules)
        if rules not in (None, by):
            continue
        for side, other in zip(SIDES, reversed(SIDES), strict=True):
            ours, theirs = match.players[side], match.players[other]
            if (
                is_net(ours)
                and trials.get(ours["trial"]) == ours["samples"]
                and str(theirs.get("name", "")).lower().startswith(engine.lower())
            ):
                label = "" if by == rules or by == "chinese" else f"{by.capitalize()} rules"
                key = (engine_level(theirs) or "", choice_text(ours), label)
                points, games = sums.get(key, (0.0, 0))
                sums[key] = (points + match.points(side), games + len(match.games))
                used.add(ours["trial"])
    if not sums:
        return Cell(formats.NONE)
    order = sorted(sums, key=lambda key: (-int(key[0]) if key[0].isdecimal() else 0, key))
    texts = [_text(*key, *sums[key]) for key in order]
    return Cell(
        "; ".join(texts),
        [[*key[:2], *sums[key], *filter(None, key[2:])] for key in order],
        tuple(sorted(used)),
        escape=True,
    )


def _text(level: str, choice: str, rules: str, points: float, games: int) -> str:
    text = f"{100 * points / games:.0f} % ({points:g}/{games})"
    return ", ".join(part for part in (f"level {level}: {text}" if level else text, choice, rules) if part)
