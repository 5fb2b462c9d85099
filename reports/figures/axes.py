"""Axes of samples and of nats: their ticks, and where they end."""

from matplotlib.ticker import FuncFormatter, MaxNLocator

from reports.results.curves import UNIFORM
from reports.results.study_results import StudyResults
from reports.tables import formats


def total_samples(results: StudyResults) -> int:
    """Samples of the longest arm."""
    return max(arm.config.training.samples for arm in results.study.arms)


def samples_axis(axes, results: StudyResults) -> None:
    """Round sample counts below an axis, to the last sample."""
    total = total_samples(results)
    ticks = [tick for tick in MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, total) if 0 <= tick <= total]
    axes.set_xticks(ticks, [formats.samples(round(tick)) for tick in ticks])


def nats_axis(axis) -> None:
    """A proper minus on an axis of nats."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: formats.minus(f"{value:.4g}")))


def fit_axis(axes, values: list[float], below: float, above: float) -> None:
    """Limits of the vertical axis around `values`, with shares of their range as room; what lies outside is cut off.

    The values are those of late training: its first steps, with losses many times the last one, would press all else
    into one line.
    """
    if values:
        room = max(values) - min(values) or 0.1
        axes.set_ylim(min(values) - below * room, max(values) + above * room)


def below_uniform(results: StudyResults) -> int:
    """Samples from which on the mean of every arm is below UNIFORM; those of the last point where it never is."""
    counts = {line["samples"] for trial in results.trials for line in trial.curve if "nats" in line}
    by_point: dict[tuple[int, str], list[float]] = {}
    for trial in results.trials:
        for line in trial.curve:
            if "nats" in line:
                by_point.setdefault((line["samples"], trial.arm), []).append(line["nats"])
    above = {count for (count, _), values in by_point.items() if sum(values) / len(values) >= UNIFORM}
    after = [count for count in counts if count > max(above, default=-1)]
    return min(after) if after else max(counts, default=0)


def cut_at_uniform(axes, late: list[float]) -> bool:
    """An axis that would reach beyond the loss of a guess among all points ends a little above it where a later mean is
    below that, else near the best: a net starts far above. The line tells where the guess is; a mark tells of curves
    that are cut off. Returns whether the axis reaches that far."""
    low, high = axes.get_ylim()
    if high <= UNIFORM:
        return False
    best = min(late, default=high)
    room = abs(UNIFORM - best)
    high = min(high, UNIFORM + 0.15 * room if best < UNIFORM else 2 * best)
    axes.set_ylim(max(low, min(best, UNIFORM) - 0.3 * room), high)
    axes.axhline(UNIFORM, color="0.55", linewidth=0.9, linestyle=(0, (1, 2)), label=f"all points alike: {UNIFORM:.2f}")
    above = [
        (x, line.get_color())
        for line in axes.get_lines()
        if line.get_linewidth() >= 2.0
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        if y > high
    ]
    for x, colour in above:
        axes.plot([x], [0.985], marker="^", markersize=5, color=colour, transform=axes.get_xaxis_transform())
    if above:
        axes.plot([], [], marker="^", markersize=5, color="0.4", linestyle="none", label="mean above the axis")
    return True
