"""The loss of a net over numbers of samples: a dot a seed, a line through the means."""

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from reports.figures.axes import nats_axis
from reports.figures.picture import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.tables import formats
from reports.worth.curve import ControlCurve


def curve_picture(curve: ControlCurve, number: int) -> Picture:
    """Samples on a logarithmic axis, nats on test games."""
    name, size = f"curve-{number}", (WIDTH, 3.4)
    shown = [(point.samples, point.nats) for point in curve.points]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        samples = [point.samples for point in curve.points]
        axes.plot(samples, [point.mean for point in curve.points], color=COLOURS[0], linewidth=1.6, label="mean")
        for index, point in enumerate(curve.points):
            places = [point.samples] * len(point.nats)
            label = "a seed each" if index == 0 else None
            axes.plot(places, list(point.nats.values()), "o", markersize=4.5, alpha=0.6, color=COLOURS[1], label=label)
        axes.set_xscale("log")
        axes.set_xticks(samples, [formats.about(count) for count in samples])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(xlabel="samples, each trained to its end", ylabel="test nats")
        nats_axis(axes.yaxis)
        axes.legend(loc="upper right")

    title = f"Loss over samples: {curve.label}"
    return Picture(name, title, lambda: figure_bytes(name, size, paint), (size, curve.label, shown))
