"""What MLflow calls numbers: over which games each is, in its name."""

from gonn_core.metrics import CHARTS, METRICS, SUMMARISED


def curve_name(metric: str) -> str:
    """Name of a number of a trial's progress: of the validation games, unless training gives it. Those without a chart
    of their own are details."""
    of_games = metric in METRICS and METRICS[metric].source == "positions"
    name = f"validation_{metric}" if of_games else metric
    return name if metric in CHARTS else f"detail/{name}"


CURVES = tuple(curve_name(metric) for metric in CHARTS)
"""The curves of a trial that are shown without a search, in order; their step is samples."""
TEST = {metric: f"test_{metric}" for metric in SUMMARISED}
"""Metric -> its name over the test games: one point of a trial that is done, as the study's table has it."""
DELTA = f"delta_{TEST['nats']}"
"""Of a trial: its loss over the test games less that of the control of the same seed; with `.<card>` behind it, of a
study: the effect of a card. Its interval's ends are `…_low.<card>` and `…_high.<card>`."""
Q = "q"
