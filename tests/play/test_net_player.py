"""A net's player: what it shows the net, symmetries, history, passing; and players as a user names them."""

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig
from gonn_core.errors import SettingError
from gonn_core.go.points import BLACK, PASS, POINTS, SYMMETRY, WHITE
from gonn_core.play.game import Game
from gonn_core.play.match.players import load_player, parse_player
from gonn_core.play.match.record import player_id
from gonn_core.play.net_player import MoveChoice, NetPlayer
from gonn_core.trial.weights import load_net
from tests.boards import parse_board
from tests.features import configs
from tests.play.made_trials import untrained_trial


class Remembering(torch.nn.Module):
    """A net whose logits are a weighted sum of its planes at each point, a weight for every plane and point; keeps what
    it was shown."""

    def __init__(self, planes: int, uniform: bool = False):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.weights = torch.randn((planes, 1, 1) if uniform else (planes, 19, 19), generator=generator)
        self.seen = []

    def forward(self, planes):
        self.seen.append(planes.clone())
        return (planes * self.weights).sum(1).flatten(1)


def game_with(*moves: int, setup=None) -> Game:
    game = Game(setup=setup)
    for move in moves:
        game.play(move)
    return game


def player(features=configs.GONN, planes=26, uniform=False, chunk=4, **choice) -> NetPlayer:
    return NetPlayer(Remembering(planes, uniform), features, MoveChoice(**choice), chunk)


def test_history_modes_show_so_many_moves():
    game = game_with(1, 2, 3, 4, 5, 6)
    for mode, shown in (("full", 5), ("last", 1), ("none", 0)):
        asked = player(history=mode)
        asked.moves([game], np.array([0.5]))
        assert asked._net.seen[0][0, 18:23].sum() == shown


def test_a_net_without_earlier_moves_has_no_history_to_leave_out():
    features = FeatureConfig(history=0)
    assert player(features, 21).moves([Game()], np.array([0.5]))
    with pytest.raises(SettingError, match="history=none: this net sees no earlier moves; valid: full"):
        player(features, 21, history="none")


def test_eight_symmetries_are_averaged_turned_back():
    game = game_with(3, 50, 77, 200)
    one, eight = player(), player(symmetries=8)
    games = [game, Game()]
    averaged = eight.policies(games)
    planes = one._net  # the same weights in both
    one.policies(games)
    upright = planes.seen[0][:2].flatten(2)
    total = torch.zeros(2, POINTS)
    for symmetry in range(8):
        turned = torch.zeros_like(upright)
        turned[..., SYMMETRY[symmetry]] = upright
        total += (turned * planes.weights.flatten(1)).sum(1)[:, SYMMETRY[symmetry]]
    assert np.allclose(averaged, torch.softmax(total / 8, 1).numpy(), atol=1e-5)
    same = player(uniform=True).policies(games), player(uniform=True, symmetries=8).policies(games)
    assert np.allclose(*same, atol=1e-5)


@pytest.mark.parametrize(
    "features, planes",
    [(configs.GO_NN, 21), (configs.CAZENAVE, 45), (configs.GONN, 26)],
    ids=["go_nn", "cazenave", "gonn"],
)
def test_many_games_give_the_moves_that_each_gives_alone(features, planes):
    generator = np.random.default_rng(0)
    games = [
        game_with(*generator.permutation(np.arange(8, POINTS))[:count].tolist(), setup={7: BLACK})
        for count in (0, 3, 40, 41, 100)
    ]
    draws = generator.random(len(games))
    asked = player(features, planes)
    together = asked.moves(games, draws)
    assert together == [asked.moves([game], draws[k : k + 1])[0] for k, game in enumerate(games)]
    assert all(game.why_illegal(move, game.to_move) is None for game, move in zip(games, together, strict=True))


NEUTRAL = 9 * 19 + 8


def settled_game(to_move: int, empty: tuple[int, ...] = ()) -> Game:
    """Two eyes for Black on the left and two for White on the right of a full board, and what is empty besides."""
    colours = np.tile(np.array([BLACK] * 9 + [WHITE] * 10, np.uint8), 19)
    colours[[20, 22, 34, 36, *empty]] = 0
    return Game(setup={int(p): int(c) for p, c in enumerate(colours) if c}, to_move=to_move)


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_passes_when_everything_is_settled_and_plays_a_neutral_point_before(colour):
    draws = np.array([0.3])
    for passing in ("pass_alive", "no_candidates", "after_pass"):
        assert player(passing=passing).moves([settled_game(colour)], draws) == [PASS]
        assert player(passing=passing).moves([settled_game(colour, (NEUTRAL,))], draws) == [NEUTRAL]
    inside = settled_game(
        colour, (9 * 19 + 4, 9 * 19 + 5)
    )  # two points inside Black's area: no simple eye, but nothing to play for
    assert player().moves([inside], draws) == [PASS]
    assert player(passing="no_candidates").moves([inside], draws) != [PASS]


def test_settled_points_get_no_probability():
    """A corner with two eyes: the net loves the point beside the eyes, which is Black's for certain."""
    text = """
    . X . X .
    X X X X .
    """
    game = Game(setup={int(p): int(c) for p, c in enumerate(parse_board(text)) if c}, to_move=WHITE)
    net = Remembering(26)
    net.weights[:] = 0
    net.weights[0, 0, 0], net.weights[0, 10, 10] = 30, 20
    for passing in ("pass_alive", "no_candidates"):
        chosen = NetPlayer(net, configs.GONN, MoveChoice(kind="sampled", passing=passing), 2).moves(
            [game], np.array([0.5])
        )
        assert chosen == [200]


def test_players_as_they_are_named(tmp_path):
    folder = untrained_trial(tmp_path / "runs")
    known = {folder.name[:6]: folder}
    spec = parse_player(
        f"{folder.name[:6]}@800,choice=argmax,history=none,symmetries=8,passing=after_pass", known.__getitem__
    )
    assert spec.directory == folder and spec.samples == 800
    assert spec.choice == MoveChoice(kind="argmax", history="none", symmetries=8, passing="after_pass")
    assert parse_player(str(folder)).choice == MoveChoice()
    for engine in ("gnugo:5", "/usr/bin/pachi -t =100000, x"):
        assert parse_player(engine, known.__getitem__) == engine
    for text, problem in (
        (f"{folder},choice=best", "choice=best: .*valid: biased, argmax, sampled"),
        (f"{folder},symmetries=2", "symmetries=2: .*valid: 1, 8"),
        (f"{folder},speed=9", "'speed=9' is no option"),
        (f"{folder},history=none,history=last", "given twice"),
        (f"{folder}@many", "a number of samples"),
        ("", "names no player"),
    ):
        with pytest.raises(SettingError, match=problem):
            parse_player(text)


def test_the_identity_of_a_net_player(tmp_path):
    folder = untrained_trial(tmp_path / "runs")
    _, plain = load_player(parse_player(str(folder)))
    _, named = load_player(parse_player(f"{folder}@800"))
    _, other = load_player(parse_player(f"{folder},history=none"))
    assert plain == named and player_id(plain) == player_id(named) != player_id(other)
    assert (
        plain["kind"] == "net"
        and plain["trial"] == folder.name
        and plain["samples"] == 800
        and len(plain["weights"]) == 16
    )
    with pytest.raises(SettingError, match="no such snapshot; valid: 800"):
        load_player(parse_player(f"{folder}@801"))


def test_a_net_that_diverged_is_no_player(tmp_path, monkeypatch):
    folder = untrained_trial(tmp_path / "runs")
    net, config = load_net(folder)
    with torch.no_grad():
        next(net.parameters())[0] = float("nan")
    monkeypatch.setattr("gonn_core.play.match.players.load_net", lambda *_: (net, config))
    with pytest.raises(SettingError, match=f"player={folder.name}: .*diverged"):
        load_player(parse_player(str(folder)))
