"""Which nets are measured, and at which size."""

from pathlib import Path

from gonn_core.config import TrialConfig, with_values
from gonn_core.trial.job import read_job

JOBS = Path(__file__).resolve().parents[2] / "results" / "gpu" / "jobs"
BASES: dict[str, tuple[str, dict]] = {
    "gonn-b5": ("b5-s1", {}),
    "gonn-b12": ("b5-s1", {"net.trunk.blocks": 12, "net.trunk.dilations": (2,)}),
    "go-nn": ("go-nn-s1", {}),
    "clark-medium": ("clark-s1", {}),
    "cazenave-14x256": ("cazenave-s1", {}),
    "lczero-s": ("lczero-s1", {}),
}
"""Base -> the job file that its configuration under the budget `gpu` is in, and what differs from it."""
STANDARD = ("gonn-b5", "gonn-b12", "go-nn", "cazenave-14x256", "lczero-s")
SIZES = ("gpu", "small")
_SMALL: dict[str, dict] = {
    "gonn": {"net.trunk.width": 24},
    "conv": {"net.conv.layers": ((5, 32), (3, 32), (3, 32))},
    "residual": {"net.residual.width": 32, "net.residual.blocks": 2},
    "encoder": {"net.encoder.width": 32, "net.encoder.heads": 2, "net.encoder.ffn": 32, "net.encoder.layers": 2},
}
"""Family -> a net that a CPU trains in milliseconds a step: it shows that all runs, not how fast a net is."""
SMALL_BATCH = 8
SMALL_GONN = {"net.trunk.width": 32, "net.trunk.blocks": 3, "net.trunk.dilations": (), "training.batch_size": 32}
"""From gonn-b5 to the net of the budget `cpu`, of which a GPU takes many beside each other."""


def configuration(base: str, size: str = "gpu") -> TrialConfig:
    """A base's configuration under the budget `gpu`, seed 1, or the small one. Raises KeyError, UserError."""
    job, changed = BASES[base]
    config = with_values(read_job(JOBS / f"{job}.json").config, changed)
    if size == "gpu":
        return config
    blocks = {"net.trunk.blocks": min(3, config.net.trunk.blocks // 3)} if config.net.family == "gonn" else {}
    return with_values(config, {**_SMALL[config.net.family], **blocks, "training.batch_size": SMALL_BATCH})


def smallest() -> TrialConfig:
    """The net of the budget `cpu` on the planes and in the precision of gonn-b5's job."""
    return with_values(configuration("gonn-b5"), SMALL_GONN)
