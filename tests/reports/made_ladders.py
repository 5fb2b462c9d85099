"""Ladders with made-up games in the real files."""

import json
from pathlib import Path

from reports.play.ladder import FILE, LadderFile, Rung, Settings, ladder_id
from tests.reports.play.made_matches import ENGINE, net, won, write_match


def rung(samples: int, nats: float, top1: float = 0.3, trial: str = "1" * 16, **choice) -> Rung:
    """A rung of a 3x32 net."""
    name = f"gonn-b5 s1 @{samples // 1000}k" + "".join(f", {value}" for value in choice.values())
    player = net(trial, samples, **choice)
    return Rung(
        name=name,
        player=player,
        structure="ResNet 3 blocks of 32",
        parameters=81_548,
        nats=nats,
        top1=top1,
        positions=20_174,
        test_games=107,
    )


def write_ladder(
    folder: Path,
    rungs: list[Rung],
    results: list[tuple[int, int]],
    link: tuple[int, int] | None = None,
    within: float = 60,
    most: int = 3000,
    data: str = "kgs",
) -> Path:
    """A ladder below `folder`/elo with its matches in `folder`/matches; elo.json. results: wins and losses of each rung
    against the one below;
    link: of the last rung against an engine."""
    ids = []
    for lower, (wins, losses) in enumerate(results):
        if wins + losses:
            ids.append(
                write_match(folder / "matches", rungs[lower + 1].player, rungs[lower].player, won(wins, losses)).name
            )
    if link is not None:
        ids.append(write_match(folder / "matches", rungs[-1].player, ENGINE, won(*link)).name)
    name = ladder_id([each.player for each in rungs], 1)
    file = LadderFile(
        id=name,
        title=f"gonn-b5, cpu, {data}, seed 1",
        data=data,
        coverage=f"{data}, 4 of 15 training years",
        history="full",
        rungs=tuple(rungs),
        settings=Settings(within=within, most=most, seed=1),
        matches=tuple(ids),
    )
    path = folder / "elo" / name / FILE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(file.model_dump(mode="json")))
    return path
