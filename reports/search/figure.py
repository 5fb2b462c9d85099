"""The figure of a search: nats over learning rate with the fitted curve, each trial's loss, and the best so far."""

import textwrap

from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from gonn_core.errors import printable
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.search.report import SearchReport
from reports.tables import formats

_BLUE, _ORANGE, _GREY = COLOURS[0], COLOURS[1], "0.45"


def draw_search(report: SearchReport) -> dict[str, bytes]:
    """`figure.png` and `figure.svg` as bytes; at least one trial must have a point."""
    return figure_bytes("figure", (WIDTH, 7.4), lambda figure: _paint(figure, report), salt=report.search.id)


def _paint(figure: Figure, report: SearchReport) -> None:
    search = report.search
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.25, 1.0), squeeze=False)[:, 0]
    title = f"Learning rate of {search.title}, {search.budget_label} budget, {formats.in_short(search.coverage)}"
    figure.suptitle("\n".join(textwrap.wrap(printable(title, 200), 88)), fontsize=10.5, x=0.01, ha="left")
    _rates(upper.subplots(), report)
    curves, history = lower.subplots(1, 2, width_ratios=(1.6, 1.0))
    _curves(curves, report)
    _history(history, report)


def _rates(axes, report: SearchReport) -> None:
    search, optimum = report.search, report.optimum
    axes.set_xscale("log")
    ends = *report.searched, search.own_rate  # a rate without a search may lie beyond those searched
    axes.set_xlim(min(ends) / 1.08, max(ends) * 1.08)
    _rate_ticks(axes.xaxis)
    axes.set(xlabel="learning rate", ylabel="validation nats")
    if optimum is not None:
        if between := optimum.interval:
            label = "95 % interval of the best rate"
            axes.axvspan(between.low, between.high, color=_ORANGE, alpha=0.12, linewidth=0, label=label)
        if len(optimum.rates):
            axes.fill_between(optimum.rates, optimum.low, optimum.high, color=_BLUE, alpha=0.18, linewidth=0)
            axes.plot(optimum.rates, optimum.curve, color=_BLUE, linewidth=1.8, label="curve, 95 % band")
        axes.axvline(optimum.rate, color=_ORANGE, linewidth=1.2, label=f"best rate {report.rate:g}")
        rates, nats = [trial.rate for trial, _ in report.done], [nats for _, nats in report.done]
        axes.plot(rates, nats, "o", color=_BLUE, markersize=4.5, label="trials, done")
        _limits(axes, nats)
    label = f"without a search: {search.own_rate:g}"
    axes.axvline(search.own_rate, color=_GREY, linewidth=1.0, linestyle=":", label=label)
    place = {"transform": axes.get_xaxis_transform(), "color": _GREY, "markersize": 6, "linestyle": "none"}
    for state, marker, label in (("pruned", "|", "given up"), ("diverged", "x", "diverged")):
        rates = [trial.rate for trial in report.tried if trial.state == state]
        if rates:
            axes.plot(rates, [0.97] * len(rates), marker, label=label, **place)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3)


def _rate_ticks(axis) -> None:
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _limits(axes, nats: list[float]) -> None:
    """The better three quarters of the trials fill the panel: what is far worse leaves it at the top."""
    ordered = sorted(nats)
    worst = ordered[(3 * (len(ordered) - 1) + 3) // 4]
    room = max(worst - ordered[0], 1e-3)
    axes.set_ylim(ordered[0] - 0.15 * room, worst + 0.35 * room)
    axes.yaxis.set_major_locator(MaxNLocator(6))


def _curves(axes, report: SearchReport) -> None:
    colours, scale = colormaps["viridis"], LogNorm(*report.searched)
    shown = []
    for trial in report.tried:
        if trial.points:
            curve = sorted(trial.points.items())
            style = {"color": colours(scale(trial.rate))}
            axes.plot(*zip(*curve, strict=True), linewidth=1.0, marker=".", markersize=2.5, **style)
            shown += [nats for samples, nats in curve if samples >= report.search.config.training.samples / 2]
            if trial.state in ("pruned", "diverged"):
                axes.plot(*curve[-1], "x", markersize=5, **style)
    if shown:
        ordered = sorted(shown)
        room = max(ordered[int(0.9 * (len(ordered) - 1))] - ordered[0], 1e-3)
        axes.set_ylim(ordered[0] - 0.08 * room, ordered[0] + 1.4 * room)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, place: formats.samples(round(value))))
    axes.set(xlabel="samples", ylabel="validation nats", title="loss of each trial; x: given up")
    bar = axes.figure.colorbar(ScalarMappable(scale, colours), ax=axes)
    bar.ax.set_title("rate", fontsize=8.5)  # above the bar: on its right is the next panel's axis
    _rate_ticks(bar.ax.yaxis)


def _history(axes, report: SearchReport) -> None:
    done = [(trial.number + 1, nats) for trial, nats in report.done]
    if done:
        best = [min(nats for _, nats in done[: index + 1]) for index in range(len(done))]
        axes.plot(*zip(*done, strict=True), "o", color=_BLUE, markersize=3.5, label="trial")
        axes.step([number for number, _ in done], best, where="post", color=_ORANGE, linewidth=1.4, label="best")
        axes.legend(loc="upper right")
        _limits(axes, [nats for _, nats in done])
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.set(xlabel="trial, in the order asked", ylabel="validation nats at the end", title="best so far")
