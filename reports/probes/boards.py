"""Pictures of the documents' positions with a net's policy as a heat map."""

import io

import matplotlib
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from gonn_core.errors import printable
from gonn_core.evaluation.probes.suite import PublishedPosition
from gonn_core.features.source import Position
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, COLUMNS, EMPTY, SIZE, point_name

DPI = 130
SHOWN = 6
"""Moves whose probability is written on the board."""
_STARS = (3, 9, 15)


def draw_policy(each: PublishedPosition, policy: np.ndarray, title: str) -> bytes:
    """PNG of a position: stones, last move (ring), ko (square), the policy (361,) in red with the likeliest moves in
    percent; right moves have a green frame, wrong ones a dark one. Published numbers are below. The same policy gives
    the same bytes."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"font.size": 8, "text.parse_math": False})
        figure = Figure(figsize=(6.2, 6.9), layout="constrained")
        axes = figure.subplots()
        draw_grid(axes)
        _draw_heat(axes, policy)
        draw_stones(axes, each.case.position)
        for moves, colour in ((each.case.right, "#1a8f3c"), (each.case.wrong, "#222222")):
            for move in moves:
                axes.add_patch(_square(move, 0.48, fill=False, edgecolor=colour, linewidth=2, zorder=6))
        colour = "Black" if each.case.position.mover == BLACK else "White"
        lines = (title, f"{each.case.name}: {each.what}; {colour} to play")
        axes.set_title("\n".join(printable(line, 110) for line in lines), fontsize=8.5)
        figures = [
            f"published {name}: "
            + "  ".join(f"{point_name(move)} {100 * share:.1f}" for move, share in list(moves.items())[:6])
            + " %"
            for name, moves in each.pictures.items()
            if moves
        ]
        axes.set_xlabel("\n".join(figures) or "no published policy", fontsize=7)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def board_place(point: int) -> tuple[int, int]:
    """(x, y) of a point on axes prepared by `draw_grid`."""
    return point % SIZE, SIZE - 1 - point // SIZE


def draw_grid(axes, wood: str = "#f3e3c3", line: str = "#8a7a5c", labels: bool = True) -> None:
    """The lines, star points and coordinates of an empty board."""
    axes.set_facecolor(wood)
    for draw in (axes.hlines, axes.vlines):
        draw(range(SIZE), 0, SIZE - 1, color=line, linewidth=0.6, capstyle="projecting", zorder=1)
    axes.scatter(*np.array([(x, y) for x in _STARS for y in _STARS]).T, s=8, color=line, zorder=1)
    axes.set(xlim=(-0.7, SIZE - 0.3), ylim=(-0.7, SIZE - 0.3), aspect="equal")
    axes.set_xticks(range(SIZE) if labels else [], COLUMNS if labels else [])
    axes.set_yticks(range(SIZE) if labels else [], range(1, SIZE + 1) if labels else [])
    axes.tick_params(length=0, labeltop=True, labelright=True)
    axes.spines[:].set_visible(False)


def draw_stones(axes, position: Position, radius: float = 0.46) -> None:
    """Stones, last move and ko of a position."""
    stones = []
    for point, colour in enumerate(Board(position.stones).colours()):
        if colour != EMPTY:
            face = "#1a1a1a" if colour == BLACK else "white"
            stones.append(Circle(board_place(point), radius, facecolor=face, edgecolor="#1a1a1a", linewidth=0.7))
    _add(axes, stones, zorder=3)
    for last in position.history[:1]:
        axes.add_patch(Circle(board_place(last), 0.22, fill=False, edgecolor="#1f9ed8", linewidth=1.8, zorder=4))
    if position.ko >= 0:
        axes.add_patch(_square(position.ko, 0.25, fill=False, edgecolor="black", linewidth=1.2, zorder=4))


def _draw_heat(axes, policy: np.ndarray) -> None:
    order = np.argsort(-policy, kind="stable")
    squares = []
    for point in order[policy[order] > 0.005]:
        strength = min(1.0, 0.12 + 0.88 * float(policy[point]) ** 0.5)
        squares.append(_square(int(point), 0.5, color="#d62728", alpha=strength, linewidth=0))
    _add(axes, squares, zorder=2)
    style = {"ha": "center", "va": "center", "fontsize": 7, "weight": "bold", "zorder": 5}
    for point in order[:SHOWN]:
        text = f"{100 * policy[point]:.0f}" if policy[point] >= 0.01 else "<1"
        axes.text(*board_place(int(point)), text, **style)


def _square(point: int, half: float, **style) -> Rectangle:
    x, y = board_place(point)
    return Rectangle((x - half, y - half), 2 * half, 2 * half, **style)


def _add(axes, patches: list, zorder: int) -> None:
    """Many patches at once: one by one they take several times as long."""
    axes.add_collection(PatchCollection(patches, match_original=True, zorder=zorder), autolim=False)
