"""Probes: the drawn families are what they claim to be (played out), ladders hang on one stone, scores are 0 by
chance."""

import json

import numpy as np
import pytest
import torch

from gonn_core.config import TrialConfig
from gonn_core.evaluation.probes.measure import answers
from gonn_core.evaluation.probes.stored import CaseAnswers, group_score, solved
from gonn_core.evaluation.probes.suite import drawn_suite, picture_cases, probe_suite, published
from gonn_core.go.board import Board
from gonn_core.go.ladder_search import ladder_bits
from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, WHITE, point, point_name
from tests.boards import points_of
from tests.evaluation.playing_out import captured
from tests.paths import FIXTURES

FIXTURE = FIXTURES / "gonn_positions.json"


def around(points):
    """Points next to some points."""
    near = set()
    for p in points:
        row, col = divmod(p, SIZE)
        near |= {
            r * SIZE + c
            for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1))
            if 0 <= r < SIZE and 0 <= c < SIZE
        }
    return near


def family(group):
    return [case for case in drawn_suite().cases if case.group == group]


def first_drawings(group):
    """The drawings of a family before they are turned."""
    return [case for case in family(group) if case.name.endswith("-0b")]


def king_moves(one, other):
    return max(abs(one // SIZE - other // SIZE), abs(one % SIZE - other % SIZE))


# The documents' positions


def test_published_boards_are_those_of_the_specification():
    stored = json.loads(FIXTURE.read_text())
    assert sorted(name for shown in published() for name in shown.pictures) == sorted(stored)
    for shown in published():
        for name in shown.pictures:
            tree, position = stored[name], shown.case.position
            board = Board(position.stones)
            for colour, key in ((BLACK, "black"), (WHITE, "white")):
                assert {point_name(p) for p in range(POINTS) if board.colour(p) == colour} == set(tree[key])
            assert position.mover == {"black": BLACK, "white": WHITE}[tree["to_play"]]
            assert (point_name(position.ko) if position.ko >= 0 else None) == tree["ko"]
            assert [point_name(p) for p in position.history] == ([tree["last_move"]] if tree["history_used"] else [])
            figures = tree["published_output"].split()
            for move, probability in shown.pictures[name].items():
                assert float(figures[figures.index(point_name(move)) + 1]) == pytest.approx(100 * probability)
    assert len(published()) == 18 and picture_cases()["dilated1"] == "chainpool2"


# Drawn families


def test_only_the_far_end_of_the_chain_makes_the_second_eye():
    assert sorted({case.distance for case in family("long_chain_eyes")}) == list(range(2, 18))
    for case in first_drawings("long_chain_eyes"):
        board, throw_in = Board(case.position.stones), case.position.history[0]
        white = [p for p in range(POINTS) if board.colour(p) == WHITE]
        points = (
            {p for p in around([*white, throw_in]) if board.colour(p) == 0}
            | {throw_in}
            | {p for p in white if len(board.chain(p)) == 1}
        )
        living = []
        for move in (*sorted(points), PASS):
            if board.legal(move, WHITE):
                after = board.copy()
                after.play(move, WHITE)
                if not captured(after, point("R18"), BLACK, points):
                    living.append(move)
        assert living == list(case.right), case.name


def test_the_race_is_won_by_a_liberty_of_the_opponents_and_by_nothing_else():
    upper, inner = 2 * SIZE + SIZE - 1, 3 * SIZE + SIZE - 1  # a stone of White's chain, and of Black's below it
    for case in first_drawings("races"):
        board = Board(case.position.stones)
        assert (board.colour(upper), board.colour(inner)) == (WHITE, BLACK)
        assert board.liberties(upper) == board.liberties(inner) == 2
        points = {p for p in around(board.chain(upper) + board.chain(inner)) if board.colour(p) == 0}
        assert len(points) == 4
        for move in (*sorted(points), PASS):
            after = board.copy()
            after.play(move, BLACK)
            assert captured(after, upper, WHITE, points) == (move in case.right), case.name
            assert captured(after, inner, WHITE, points) == (move not in case.right), case.name
        before = board.stones()
        last = case.position.history[0]
        before[6 + (last >> 6)] &= ~(np.uint64(1) << np.uint64(last & 63))
        assert not captured(Board(before), inner, WHITE, points | {last})


def test_a_ko_that_needs_a_threat_and_a_threat_that_is_nothing_else():
    for case in first_drawings("ko_threats"):
        board, (threat,) = Board(case.position.stones, case.position.ko), case.right
        stake = (SIZE - 1) * SIZE
        assert not board.legal(case.position.ko, BLACK) and board.liberties(stake) == 1 and len(board.chain(stake)) >= 8
        (last_liberty,) = {p for p in around(board.chain(stake)) if board.colour(p) == 0}
        assert not board.legal(last_liberty, BLACK)
        taken = board.copy()
        taken.play(last_liberty, WHITE)
        assert taken.colour(stake) == 0, "White can take the black chain"
        board.play(threat, BLACK)
        chain = threat + 1
        (answer,) = {p for p in around(board.chain(chain)) if board.colour(p) == 0}
        ignored, answered = board.copy(), board.copy()
        ignored.play(PASS, WHITE)
        ignored.play(answer, BLACK)
        assert ignored.colour(chain) == 0
        answered.play(answer, WHITE)
        assert answered.liberties(chain) >= 3
        answered.play(case.position.ko, BLACK)
        assert answered.liberties(stake) == 2 and answered.colour(case.position.history[0]) == 0
        changed = points_of(case.position.stones[:6] ^ case.counterpart.stones[:6]) | points_of(
            case.position.stones[6:] ^ case.counterpart.stones[6:]
        )
        assert changed == {case.position.history[0]} and case.distance == king_moves(case.position.ko, threat)


def test_turned_cases_are_the_same_case():
    for case in (family("long_chain_eyes")[29], family("races")[-1], family("ko_threats")[13]):
        board = Board(case.position.stones, case.position.ko)
        assert (board.stones() == case.position.stones).all() and all(
            board.legal(move, case.position.mover) for move in case.right
        )
        nearest = min(king_moves(move, case.position.history[0]) for move in case.right)
        assert abs(nearest - case.distance) <= 1
    assert len({case.position.stones.tobytes() for case in family("long_chain_eyes")}) == 256


def test_the_suites_keep_their_digests():
    assert drawn_suite().digest == "edabb38770bbb5c2" and len(drawn_suite().cases) == 610
    assert probe_suite().digest == "14427c40b615152f" and len(probe_suite().cases) == 3642


# Ladders


def laddered(board):
    """Points of the board's ladder bitboard."""
    return points_of(ladder_bits(board.stones(), board.ko))


def is_safe_after(position, move, chain):
    """Whether the mover's chain has three liberties after his move, or two and no working attack."""
    board = Board(position.stones, position.ko)
    board.play(move, position.mover)
    return board.liberties(chain) >= 3 or (board.liberties(chain) == 2 and chain not in laddered(board))


def test_ladders_hang_on_one_far_stone():
    ladders = [case for case in probe_suite().cases if case.group.startswith("ladder_")]
    assert len(ladders) == 3032 and {case.group for case in ladders} == {"ladder_capture", "ladder_run"}
    for case in ladders:
        (move,), mover = case.right, case.position.mover
        changed = [
            points_of(case.position.stones[side] ^ case.counterpart.stones[side])
            for side in (slice(0, 6), slice(6, 12))
        ]
        (stone,) = changed[0] | changed[1]
        right, wrong = (Board(position.stones, position.ko) for position in (case.position, case.counterpart))
        assert case.distance >= 4 and right.legal(move, mover) and wrong.legal(move, mover)
        if case.group == "ladder_capture":
            chain = point(case.name.split("-")[2])
            for board, works in ((right, True), (wrong, False)):
                board.play(move, mover)
                assert (chain in laddered(board)) == works and board.liberties(chain) == 1
        else:
            (chain,) = {
                min(wrong.chain(p))
                for p in around([move])
                if wrong.colour(p) == mover and wrong.liberties(p) == 1 and p in laddered(wrong)
            }
            assert chain not in laddered(right) and is_safe_after(case.position, move, chain)
            assert min(king_moves(stone, p) for p in wrong.chain(chain)) == case.distance


# Scores


def test_scores_are_0_by_chance_and_1_for_all():
    cases = family("ko_threats")
    ones, zeros = np.ones(len(cases), np.float32), np.zeros(len(cases), np.float32)
    assert group_score(cases, CaseAnswers(ones, zeros, ones))["score"] == 1.0
    assert group_score(cases, CaseAnswers(ones, ones, ones / 2))["score"] == 0.0
    assert group_score(cases, CaseAnswers(zeros, ones, zeros))["score"] == -1.0
    assert solved(np.array([0.2, 0.1, 0.1]), np.array([0.1, 0.2, 0.1])).tolist() == [1, 0, 0.5]
    assert group_score([published()[0].case], CaseAnswers(zeros[:1], zeros[:1], zeros[:1])) == {"cases": 0}


def test_a_random_net_scores_near_0():
    from gonn_core.config import with_values
    from gonn_core.features.sets import plane_names
    from gonn_core.nets import build_net

    torch.set_num_threads(1)
    config = with_values(TrialConfig(), {"net.trunk.width": 8, "net.trunk.blocks": 1})
    net = build_net(config.net, plane_names(config.features), 3)
    suite = drawn_suite()
    given = answers(net, config.features, suite)
    for group in suite.groups[1:]:
        inside = np.array([case.group == group for case in suite.cases])
        score = group_score(family(group), CaseAnswers(*(values[inside] for values in given)))
        assert abs(score["score"]) < 0.05, group
