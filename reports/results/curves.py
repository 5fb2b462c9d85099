"""What a progress line says of a metric whose source is the curve."""

from collections.abc import Mapping


def curve_value(line: Mapping[str, float], metric: str) -> float | None:
    """The line's number; None where it has none, as in trials from before it was kept.

    A line tells `train_loss` only where what is minimised is not the cross-entropy of the next move, `train_nats`.
    """
    if metric == "train_loss" and metric not in line:
        return line.get("train_nats")
    return line.get(metric)
