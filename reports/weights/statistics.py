"""Statistics of trained weights that the documents give: slopes of parametric ReLUs, sizes of kernel taps, symmetry of
filters.

Each is a number per layer, from a net's weights as arrays by name (`gonn_core.nets`: names of parameters are stable).
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from gonn_core.config import TrialConfig
from gonn_core.errors import Damaged, InputError
from gonn_core.files.json_files import tell
from gonn_core.files.seals import check_tensors, verify_once
from reports.cache import cached, code, digest, file_stamp
from reports.results.study_results import TrialResult

_AGAIN = "the command that trained this trial makes it again once the trial's result.json is removed"

Weights = Mapping[str, np.ndarray]

EDGES = ((0, 1), (1, 0), (1, 2), (2, 1))
CORNERS = ((0, 0), (0, 2), (2, 0), (2, 2))
CENTER = ((1, 1),)
TAP_GROUPS = {"corners": CORNERS, "edges": EDGES, "center": CENTER}


def statistic(name: str, weights: Weights) -> dict[str, float]:
    """Layer -> value of the named statistic (ablations.schema.WeightStatistic); empty where the net has no such
    weights."""
    layers, value = STATISTICS[name]
    return {layer: value(weights[layer]) for layer in sorted(weights) if layers(layer, weights[layer])}


def _is_slopes(layer: str, values: np.ndarray) -> bool:
    module, _, name = layer.rpartition(".")
    return name in ("slopes", "slopes1", "slopes2") and not module.endswith("pooled")


def is_kernel(layer: str, values: np.ndarray) -> bool:
    """Whether these are the weights of a 3x3 kernel in a block."""
    return layer.startswith("blocks.") and values.ndim == 4 and values.shape[2:] == (3, 3)


def _is_first_convolution(layer: str, values: np.ndarray) -> bool:
    """Whether these are the free weights (out, in, k, k) of a plain net's first convolution; tied ones lie in orbits,
    (out, in, orbits)."""
    return layer.startswith("stem.") and values.ndim == 4 and values.shape[2] == values.shape[3] > 1


def symmetry_share(kernel: np.ndarray) -> float:
    """Share, 0 to 1, of the variance of filters (out, in, k, k) about each one's own mean that stays when they are
    averaged over the 8 symmetries of the square.

    A filter without a pattern, the same at all taps, thus counts for nothing. Of filters drawn at random it is
    (orbits - 1)/(k² - 1): 9/48 for k = 7, of symmetric ones 1.
    """
    filters = kernel.astype(np.float64)
    filters -= filters.mean((2, 3), keepdims=True)
    turned = [np.rot90(each, turns, (2, 3)) for each in (filters, filters.swapaxes(2, 3)) for turns in range(4)]
    whole = float((filters**2).sum())
    return float((np.mean(turned, axis=0) ** 2).sum()) / whole if whole else float("nan")


def tap_rms(kernel: np.ndarray, taps) -> float:
    """Root mean square over channels and the given taps of a kernel (out, in, 3, 3)."""
    return float(np.sqrt(np.mean([np.mean(kernel[:, :, row, column].astype(np.float64) ** 2) for row, column in taps])))


def _to_edges(kernel: np.ndarray, taps) -> float:
    """`tap_rms` of the taps over that of the edges; nan of a kernel that starts at 0."""
    edges = tap_rms(kernel, EDGES)
    return tap_rms(kernel, taps) / edges if edges else float("nan")


def _mean(slopes: np.ndarray) -> float:
    return float(slopes.mean(dtype=np.float64))


STATISTICS: Mapping[str, tuple[Callable[[str, np.ndarray], bool], Callable[[np.ndarray], float]]] = {
    "prelu_slope_mean": (_is_slopes, _mean),
    "prelu_slope_sd": (_is_slopes, lambda slopes: float(slopes.std(dtype=np.float64))),
    "prelu_pooled_slope_mean": (lambda layer, _: layer == "head.pooled.slopes", _mean),
    "kernel_rms_center": (is_kernel, lambda kernel: tap_rms(kernel, CENTER)),
    "kernel_center_to_edge": (is_kernel, lambda kernel: _to_edges(kernel, CENTER)),
    "kernel_corner_to_edge": (is_kernel, lambda kernel: _to_edges(kernel, CORNERS)),
    "kernel_symmetry": (_is_first_convolution, symmetry_share),
}
"""Statistic -> which layers have it, and its value of a layer's weights."""


def trained_statistic(name: str, trial: TrialResult, cache: Path | None) -> dict[str, float]:
    """Layer -> value of the final weights. `cache`: its folder; without one, a report over many studies reads hundreds
    of nets for a few numbers of each. Raises InputError for a damaged snapshot."""
    place = cache / f"{trial.id}.{name}.statistic" if cache else None
    assert trial.result is not None
    inputs = code("reports.weights.statistics"), (trial.id, trial.result["weights"], *file_stamp(last_snapshot(trial)))
    return _cached(place, inputs, lambda: statistic(name, snapshot_weights(last_snapshot(trial))))


def untrained_statistic(name: str, config: TrialConfig, cache: Path | None) -> dict[str, float]:
    """Layer -> value of the weights with which a trial starts."""
    place = cache / f"{digest(config)}.{name}.statistic" if cache else None
    inputs = code("reports.weights.statistics", "gonn_core", libraries=("torch",)), config
    return _cached(place, inputs, lambda: statistic(name, untrained_weights(config)))


def _cached(place: Path | None, inputs: object, compute: Callable[[], dict[str, float]]) -> dict[str, float]:
    return json.loads(cached(place, inputs, lambda: json.dumps(compute()).encode()))


def last_snapshot(trial: TrialResult) -> Path:
    """Path of the final weights of a finished trial; they may have been removed."""
    assert trial.result is not None
    return trial.folder / "snapshots" / f"{trial.result['samples']}.safetensors"


def has_weights(trial: TrialResult) -> bool:
    """Whether the final weights of a finished trial are there and undamaged; damage is reported once."""
    path = last_snapshot(trial)
    try:
        verify_once(path.parent, {path.name: "seal"}, lambda name: check_tensors(path, _AGAIN))
    except FileNotFoundError:
        return False
    except Damaged as damage:
        tell(damage, "looks inside this net are left out")
        return False
    return True


def snapshot_weights(path: Path) -> Weights:
    """Weights of a snapshot by name, as arrays. Raises InputError for a file that is none."""
    import safetensors.numpy  # only where weights are asked for

    check_tensors(path, _AGAIN)
    try:
        return safetensors.numpy.load_file(path)
    except FileNotFoundError:
        raise InputError(path, "no such snapshot") from None
    except (safetensors.SafetensorError, ValueError) as error:
        raise Damaged(path, f"not a readable snapshot ({error}); {_AGAIN}") from None


def untrained_weights(config: TrialConfig) -> Weights:
    """Weights with which a trial starts."""
    from gonn_core.nets import trial_net  # torch and numba, only where weights are asked for

    net = trial_net(config)
    return {name: values.detach().numpy() for name, values in net.named_parameters()}
