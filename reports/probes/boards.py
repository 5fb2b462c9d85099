"""Pictures of the documents' positions with a net's policy as a heat map."""

import io
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Patch, Rectangle

from gonn_core.errors import printable
from gonn_core.evaluation.probes.suite import PublishedPosition
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, COLUMNS, EMPTY, SIZE, point_name

DPI = 130
SHOWN = 6
"""Moves whose probability is written on the board."""
_STARS = (3, 9, 15)
_WOOD, _LINE, _HEAT = "#f3e3c3", "#8a7a5c", "#d62728"


def draw_policy(each: PublishedPosition, policy: np.ndarray, title: str) -> bytes:
    """PNG of a position: stones, last move (ring), ko (square), the policy (361,) in red with the likeliest moves in
    percent; right moves have a green frame, wrong ones a dark one. Published figures stand below. The same policy
    gives the same bytes."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"font.size": 8, "text.parse_math": False})
        figure = Figure(figsize=(6.2, 6.9), layout="constrained")
        axes = figure.subplots()
        _grid(axes)
        _heat(axes, policy)
        _stones(axes, each)
        _frames(axes, each)
        colour = "Black" if each.case.position.mover == BLACK else "White"
        axes.set_title(
            "\n".join(printable(line, 110) for line in (title, f"{each.case.name}: {each.what}; {colour} to play")),
            fontsize=8.5,
        )
        axes.set_xlabel("\n".join(_published_lines(each)) or "no published policy", fontsize=7)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _place(point: int) -> tuple[int, int]:
    return point % SIZE, SIZE - 1 - point // SIZE


def _grid(axes) -> None:
    axes.set_facecolor(_WOOD)
    for draw in (axes.hlines, axes.vlines):
        draw(range(SIZE), 0, SIZE - 1, color=_LINE, linewidth=0.6, capstyle="projecting", zorder=1)
    axes.scatter(*np.array([(x, y) for x in _STARS for y in _STARS]).T, s=8, color=_LINE, zorder=1)
    axes.set(xlim=(-0.7, SIZE - 0.3), ylim=(-0.7, SIZE - 0.3), aspect="equal")
    axes.set_xticks(range(SIZE), COLUMNS)
    axes.set_yticks(range(SIZE), range(1, SIZE + 1))
    axes.tick_params(length=0, labeltop=True, labelright=True)
    axes.spines[:].set_visible(False)


def _heat(axes, policy: np.ndarray) -> None:
    order = np.argsort(-policy, kind="stable")
    squares = []
    for point in order[policy[order] > 0.005]:
        strength = min(1.0, 0.12 + 0.88 * float(policy[point]) ** 0.5)
        x, y = _place(int(point))
        squares.append(Rectangle((x - 0.5, y - 0.5), 1, 1, color=_HEAT, alpha=strength, linewidth=0))
    _add(axes, squares, zorder=2)
    for point in order[:SHOWN]:
        x, y = _place(int(point))
        axes.text(
            x,
            y,
            f"{100 * policy[point]:.0f}" if policy[point] >= 0.01 else "<1",
            ha="center",
            va="center",
            fontsize=7,
            weight="bold",
            zorder=5,
        )


def _add(axes, patches: Sequence[Patch], zorder: int) -> None:
    """Many patches at once: one by one they take several times as long."""
    axes.add_collection(PatchCollection(list(patches), match_original=True, zorder=zorder), autolim=False)


def _stones(axes, each: PublishedPosition) -> None:
    position, stones = each.case.position, []
    for point, colour in enumerate(Board(position.stones).colours()):
        if colour != EMPTY:
            face = "#1a1a1a" if colour == BLACK else "white"
            stones.append(Circle(_place(point), 0.46, facecolor=face, edgecolor="#1a1a1a", linewidth=0.7))
    _add(axes, stones, zorder=3)
    for last in position.history[:1]:
        axes.add_patch(Circle(_place(last), 0.22, fill=False, edgecolor="#1f9ed8", linewidth=1.8, zorder=4))
    if position.ko >= 0:
        x, y = _place(position.ko)
        axes.add_patch(
            Rectangle((x - 0.25, y - 0.25), 0.5, 0.5, fill=False, edgecolor="black", linewidth=1.2, zorder=4)
        )


def _frames(axes, each: PublishedPosition) -> None:
    for moves, colour in ((each.case.right, "#1a8f3c"), (each.case.wrong, "#222222")):
        for move in moves:
            x, y = _place(move)
            axes.add_patch(
                Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, fill=False, edgecolor=colour, linewidth=2, zorder=6)
            )


def _published_lines(each: PublishedPosition) -> list[str]:
    lines = []
    for name, moves in each.pictures.items():
        if moves:
            lines.append(
                f"published {name}: "
                + "  ".join(f"{point_name(move)} {100 * share:.1f}" for move, share in list(moves.items())[:6])
                + " %"
            )
    return lines
