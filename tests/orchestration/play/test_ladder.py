"""`gonn elo`: enough games for every pair of neighbours, the link to GNU Go, going on after a kill, which run of a base
is taken."""

import json
from pathlib import Path

import numpy as np
import pytest

from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import read_json
from gonn_core.play.engines.players import Engine
from gonn_core.play.match.players import NetSpec
from gonn_core.play.match.record import load_match
from orchestration.play import ladder as play_ladder
from orchestration.play.ladder import FIRST_GAMES, LadderNet, base_trial, games_needed, play_engine, snapshot_specs
from reports.play.ladder import Ladder, ladder_text, read_ladder
from reports.workspace import Workspace
from tests.play.made_trials import untrained_trial
from tests.reports.made_ladders import rung, write_ladder
from tests.reports.made_studies import plan_study, train
from tests.reports.play.made_matches import ENGINE, game, net, write_match

RUNGS = [rung(10_000, 3.4), rung(20_000, 2.9), rung(50_000, 2.6), rung(100_000, 2.4)]
TRUTH = {10_000: 0, 20_000: 200, 50_000: 500, 100_000: 600}


class Arena:
    """Plays games by true strengths into match directories, as gonn match would: a match is the same however often it
    is asked for."""

    def __init__(self, workspace: Workspace, levels: dict[int, float]):
        self.workspace, self.levels, self.asked, self.fail_after = workspace, levels, [], None

    def __call__(self, sides, games: int, seed: int):
        if self.fail_after is not None and len(self.asked) >= self.fail_after:
            raise KeyboardInterrupt
        a, b = self._who(sides["A"]), self._who(sides["B"])
        self.asked.append((a[1], b[1], games))
        generator = np.random.default_rng([a[1], b[1], seed])
        wins = generator.random(games) < 1 / (1 + 10 ** ((b[2] - a[2]) / 400))
        lines = [game(number, "AB"[number % 2], "A" if won else "B") for number, won in enumerate(wins)]
        folder = self._write(a[0], b[0], lines, seed)
        return load_match(folder)

    def _who(self, side):
        if isinstance(side, Engine):
            level = side.level
            return {**ENGINE, "command": list(side.command)}, level, self.levels[level]
        return net("1" * 16, side.samples), side.samples, TRUTH[side.samples]

    def _write(self, a, b, lines, seed) -> Path:
        try:
            return write_match(self.workspace.matches, a, b, lines, seed)
        except FileExistsError as error:
            folder = Path(error.filename)
            (folder / "games.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            return folder


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace whose base net has four snapshots of known strength, without any net."""
    nets = [LadderNet(each, NetSpec(tmp_path, each.player["samples"], None)) for each in RUNGS]
    monkeypatch.setattr(play_ladder, "base_trial", lambda *_: tmp_path / "runs" / ("1" * 16))
    monkeypatch.setattr(play_ladder, "snapshot_specs", lambda *_: [])
    monkeypatch.setattr(play_ladder, "ladder_nets", lambda *_: nets)
    monkeypatch.setattr(
        play_ladder,
        "parse_engine",
        lambda text: Engine(("gnugo", "--level", text.partition(":")[2]), int(text.partition(":")[2])),
    )
    return Workspace(tmp_path)


def play(workspace, levels=None, arena=None, **values):
    arena = arena or Arena(workspace, levels or {1: 700, 5: 900, 10: 1100})
    request = play_ladder.EloRequest("gonn-b5", data="kgs", **values)
    return play_ladder.play_ladder(workspace, request, arena, lambda text: None), arena


def test_asked_again_it_plays_nothing_new(workspace):
    ladder, arena = play(workspace)
    asked = len(arena.asked)
    again, arena = play(workspace, arena=arena)
    assert again.file == ladder.file and again.games == ladder.games
    assert all(games <= 60 for _, _, games in arena.asked[asked:])  # GNU Go's matches are looked up, no neighbours are
    narrower, _ = play(workspace, arena=arena, within=30.0)
    assert narrower.games > ladder.games and narrower.file.id == ladder.file.id


def test_killed_in_the_middle_it_goes_on_with_what_was_played(workspace, tmp_path):
    whole, _ = play(workspace)
    other = Workspace(tmp_path / "other")
    arena = Arena(other, {1: 700, 5: 900, 10: 1100})
    for stop in (1, 3, 5):
        arena.fail_after = stop
        with pytest.raises(KeyboardInterrupt):
            play(other, arena=arena)
    arena.fail_after = None
    resumed, _ = play(other, arena=arena)
    assert resumed.file == whole.file and all(half <= 60 for _, half in resumed.neighbours())
    assert (
        resumed.games < 1.2 * whole.games
    )  # nothing was played twice, though what is needed is told a little otherwise


def test_without_a_level_between_there_is_no_link(workspace):
    ladder, _ = play(workspace, levels={1: 5000, 5: 6000, 10: 8000})
    assert not ladder.engines and ladder_text(ladder)[-1].endswith(
        "nets took 0 of 10 at level 1, each of them none or all."
    )


def test_at_each_level_nets_near_it_play_more(tmp_path):
    def link(shares):
        """Calls, and what the page says of them: the first net is the strongest rung."""
        asked, played = [], {}

        def play_level(place, level, games):
            asked.append((place, level, games))
            ends = int(shares[place] * games / level)
            lines = [game(number, "A", "A" if number < ends else "B") for number in range(games)]
            engine = {**ENGINE, "command": ["gnugo", "--level", str(level)]}
            folder = tmp_path / str(len(list(tmp_path.iterdir())))
            played[place, level] = load_match(write_match(folder, rungs[-1 - place].player, engine, lines))
            return played[place, level]

        rungs = RUNGS[-len(shares) :]
        play_engine(len(shares), play_level, 20)
        path = write_ladder(tmp_path / f"ladder{len(shares)}", rungs, [(1, 1)] * (len(rungs) - 1))
        ladder = read_ladder(path, path.parent.parent.parent / "matches")
        ladder = Ladder(ladder.file, (*ladder.matches, *reversed(played.values())))
        return asked, ladder_text(ladder)[-1]

    asked, text = link([1.0, 0.5, 0.0])
    assert asked[:4] == [(0, 1, 10), (1, 1, 10), (1, 1, 20), (2, 1, 10)]  # all, half, none of level 1
    assert asked[4:] == [(0, 5, 10), (0, 5, 20), (1, 5, 10), (1, 5, 20), (0, 10, 10), (0, 10, 20)]
    assert text.endswith("took: 10 of 20 at level 1, 6 of 40 at level 5, 2 of 20 at level 10.")
    asked, text = link([0.0, 1.0])
    assert (
        asked == [(0, 1, 10)] and text == "No link to GNU Go: nets took 0 of 10 at level 1, each of them none or all."
    )


def test_games_that_are_wanted(tmp_path):
    def wanted(results, **values):
        path = write_ladder(tmp_path / str(len(list(tmp_path.iterdir()))), RUNGS[:3], results, **values)
        return games_needed(read_ladder(path, path.parent.parent.parent / "matches"))

    assert wanted([(0, 0), (0, 0)]) == [(0, FIRST_GAMES), (1, FIRST_GAMES)]
    assert wanted([(100, 100), (0, 0)]) == [(1, FIRST_GAMES)]  # ±48 is enough
    ((_, total),) = wanted([(100, 100), (90, 10)])
    assert 300 < total <= 400
    assert wanted([(100, 100), (10, 0)]) == [(1, 40)]  # a rough guess from few games is not trusted
    assert wanted([(100, 100), (90, 10)], most=100) == []


def test_the_data_of_a_trial_named_by_its_id(tmp_path):
    made = plan_study(tmp_path, "last_move_input", budget="cpu", seeds=(1,))
    train(made, {})
    folder = made.runs / made.study.trials_of("control")[1]
    assert play_ladder._trained_on(folder, "starter") == ("starter", "starter")
    tree = read_json(folder / "config.json")
    for labels in ({"data": "kgs, 4 of 15 training years"}, {"study": made.study.id}):
        (folder / "config.json").write_text(json.dumps({**tree, "labels": labels}))
        assert play_ladder._trained_on(folder, "starter") == ("kgs", "kgs, 4 of 15 training years")


def test_which_run_of_a_base_is_taken(tmp_path):
    made = plan_study(tmp_path, "last_move_input", budget="cpu", seeds=(1, 2))
    train(made, {}, skip=[("control", 2)])
    workspace = Workspace(tmp_path)
    control = made.study.trials_of("control")[1]
    assert base_trial(workspace, "gonn-b5", "kgs", "cpu", 1).name == control
    assert base_trial(workspace, control[:8], "starter", "cpu", 1).name == control
    for values in (("gonn-b5", "kgs", "cpu", 2), ("gonn-b5", "starter", "cpu", 1), ("gonn-b5", "kgs", "gpu", 1)):
        with pytest.raises(SettingError, match="BASE=gonn-b5: no finished trial"):
            base_trial(workspace, *values)
    with pytest.raises(SettingError, match="gonn-b6"):
        base_trial(workspace, "gonn-b6", "kgs", "cpu", 1)


def test_snapshots_by_their_samples(tmp_path):
    folder = untrained_trial(tmp_path, training__samples=20_000)
    assert [[spec.samples for spec in snapshot_specs(folder, sizes)] for sizes in (None, "20k")] == [[20_000]] * 2
    for sizes, problem in (("30k", "no snapshots at 30000 samples"), ("20k,many", "not numbers of samples")):
        with pytest.raises(SettingError, match=problem):
            snapshot_specs(folder, sizes)
    (folder / "snapshots" / "20000.safetensors").unlink()
    with pytest.raises(InputError, match=f"{folder.name}: no snapshot of 10,000 samples or more"):
        snapshot_specs(folder, None)
