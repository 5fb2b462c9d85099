"""What the model of a step says of the bases, by this device's own measured rates, beside what was measured."""

from collections.abc import Mapping

from gonn_core.config import TrialConfig
from gonn_core.rehearsal.process import Part, rehearse_apart
from gonn_core.step_model.counts import Counts, counts_of
from gonn_core.step_model.devices import Device
from gonn_core.step_model.model import samples_per_s, step_time

MATRIX_KIND = "convolution and matrix"


def counted(configs: Mapping[str, TrialConfig]) -> dict[str, Counts]:
    """Name -> what a step and an evaluation consist of, counted without a device. Raises UserError, ValueError."""
    parts = [Part(config=config) for config in configs.values()]
    return {name: counts_of(found) for name, found in zip(configs, rehearse_apart(parts), strict=True)}


def beside_measured(counts: Counts, peaks: Mapping[str, float], step: Mapping) -> dict:
    """Predicted samples/s, by the rates measured here, and bytes of memory; bytes/s of all kernels that are no matrix
    work, and its share of the measured copy."""
    here = Device("here", "", "", peaks["bf16_flops"], peaks["fp32_flops"], peaks["copy_bytes"], 0, "measured")
    time = step_time(counts.step, here)
    seconds = step["busy_seconds"] * (1 - step["shares"][MATRIX_KIND])
    rate = counts.step.bytes / seconds if seconds else 0.0
    return {
        "samples_per_s": samples_per_s(counts, here),
        "measured_samples_per_s": step["samples_per_s"],
        "limit": time.limit,
        "kernels": counts.step.kernels,
        "bytes_per_s": rate,
        "copy_share": rate / peaks["copy_bytes"],
        "peak_bytes": counts.memory,
        "measured_peak_bytes": step["peak_bytes"],
    }


def rank_correlation(rows: Mapping[str, Mapping]) -> float:
    """Spearman's, of predicted and measured samples/s; 1: nets are in the same order."""
    count = len(rows)
    ranks = [_ranks([row[name] for row in rows.values()]) for name in ("samples_per_s", "measured_samples_per_s")]
    squares = sum((one - other) ** 2 for one, other in zip(*ranks, strict=True))
    return 1 - 6 * squares / (count * (count**2 - 1))


def _ranks(values: list[float]) -> list[int]:
    return [sum(other < value for other in values) for value in values]
