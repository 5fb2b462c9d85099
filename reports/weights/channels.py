"""Channels of the policy head just before they are pooled, on the documents' positions, and how near they come to the
published ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ablations.published_inspection import PublishedChannel
from gonn_core.config import TrialConfig, parse_config, trial_id
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.points import POINTS, point
from gonn_core.trial.directory import TrialDirectory
from reports.cache import cached, code
from reports.results.nets import MeasuredNet
from reports.results.study_results import TrialResult
from reports.weights.statistics import has_weights, weights_stamp


@dataclass(frozen=True)
class ChannelMaps:
    """maps, untrained: (trials, positions, channels, 361) float32, of the trained nets and of the same nets before
    training."""

    net: MeasuredNet
    trials: tuple[str, ...]
    positions: tuple[PublishedPosition, ...]
    maps: np.ndarray
    untrained: np.ndarray

    def nearest(self, channel: PublishedChannel) -> "Nearest":
        """The channel of each trial that answers most like a published one."""
        place = [each.case.name for each in self.positions].index(channel.position)
        trained, before = (likeness(maps[:, place], channel) for maps in (self.maps, self.untrained))
        return Nearest(channel, np.abs(trained).argmax(1), trained, before)


@dataclass(frozen=True)
class Nearest:
    """chosen (trials,): our channel; likeness, before: (trials, channels), trained and not."""

    published: PublishedChannel
    chosen: np.ndarray
    likeness: np.ndarray
    before: np.ndarray

    @property
    def best(self) -> np.ndarray:
        """(trials,) size of the likeness of the chosen channels."""
        return np.abs(self.likeness).max(1)

    @property
    def best_before(self) -> np.ndarray:
        """(trials,) the same of untrained nets: what choosing among as many channels gives by chance."""
        return np.abs(self.before).max(1)


def likeness(maps: np.ndarray, channel: PublishedChannel) -> np.ndarray:
    """(...) of maps (..., 361): their mean at the points where the published channel is high, less that where it is low
    (else that of the board), in standard deviations over the board; negative for a channel that says the same with the
    other sign, 0 for a flat one. Ours."""
    scaled = maps - maps.mean(-1, keepdims=True, dtype=np.float64)
    spread = scaled.std(-1, keepdims=True)
    scaled = np.divide(scaled, spread, out=np.zeros_like(scaled), where=spread > 1e-6)
    high, low = ([point(name) for name in points] for points in (channel.high, channel.low))
    return scaled[..., high].mean(-1) - (scaled[..., low].mean(-1) if low else 0.0)


def pools(net: MeasuredNet) -> bool:
    """Whether a net pools channels in its head."""
    return net.config.net.family == "gonn" and net.config.net.head.pooling != "none"


def channel_maps(net: MeasuredNet, channels: Sequence[PublishedChannel]) -> ChannelMaps | None:
    """Of the trials of a net whose last snapshot is there and whose numerics this version computes; None where there is
    none, or where the net pools nothing in its head. Raises InputError for a snapshot that is damaged."""
    if not pools(net):
        return None
    trials = [trial for trial in net.trials if has_weights(trial) and trial_id(_config(trial.folder)) == trial.id]
    wanted = {channel.position for channel in channels}
    positions = tuple(each for each in published() if each.case.name in wanted)
    if not trials or not positions:
        return None
    maps, untrained = np.stack([_cached_maps(trial, positions, net.cache) for trial in trials], axis=1)
    return ChannelMaps(net, tuple(trial.id for trial in trials), positions, maps, untrained)


def _cached_maps(trial: TrialResult, positions: Sequence[PublishedPosition], cache: Path | None) -> np.ndarray:
    """(2, positions, channels, 361) of the trained net and of the same net before training, or as kept in `cache`."""
    place = cache / f"{trial.id}.channels" if cache else None
    sources = code("reports.weights.channels", "gonn_core", libraries=("torch",))
    inputs = sources, [each.case.name for each in positions], weights_stamp(trial)
    maps = cached(place, inputs, lambda: _both(trial.folder, positions).astype("<f4").tobytes())
    return np.frombuffer(maps, "<f4").reshape(2, len(positions), -1, POINTS)


def _both(folder: Path, positions: Sequence[PublishedPosition]) -> np.ndarray:
    from gonn_core.nets import trial_net  # torch and numba, only where channels are asked for
    from gonn_core.trial.weights import load_net

    start = trial_net(_config(folder)).eval()
    trained, config = load_net(folder)
    return np.stack([_ask(each, config, positions) for each in (trained, start)])


def _config(folder: Path) -> TrialConfig:
    tree = TrialDirectory(folder).config()
    assert tree is not None  # of a finished trial it is there
    return parse_config(tree["config"])


def _ask(net, config: TrialConfig, positions: Sequence[PublishedPosition]) -> np.ndarray:
    """(positions, channels, 361)."""
    from gonn_core.evaluation.probes.measure import on_positions
    from gonn_core.nets.fingerprint import one_thread

    maps = []

    def ask(planes):
        body = net.body(planes)
        maps.append(net.head.channels_to_pool(body).flatten(2).numpy())
        return net.head(body)

    with one_thread():
        on_positions(config.features, [each.case.position for each in positions], ask)
    return np.concatenate(maps)
