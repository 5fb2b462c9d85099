"""What nets' steps consist of, counted without a device and kept in the workspace: `speeds/counted/<net>`."""

from collections.abc import Mapping

from gonn_core.config import TrialConfig
from gonn_core.rehearsal.process import Part, rehearse_apart
from gonn_core.step_model.counts import Counts, counts_of
from orchestration.speeds.kept import net_key
from orchestration.speeds.measure import Say
from reports.cache import code, keep, read
from reports.workspace import Workspace

MOST_NETS = 12
"""Nets of one study that a plan counts; which ones, its parts choose by what they tell."""


def counted(configs: Mapping[str, TrialConfig], workspace: Workspace | None, say: Say) -> dict[str, Counts]:
    """Name -> counts, each net counted once: two seconds for the first, under one for another. workspace: where they
    are kept; None: nowhere. Raises UserError, ValueError for a net whose step fails."""
    nets = {net_key(config): config for config in configs.values()}
    inputs = code("gonn_core.nets", "gonn_core.training", "gonn_core.rehearsal", libraries=("torch",))
    paths = {key: None if workspace is None else workspace.root / "speeds" / "counted" / key for key in nets}
    found = {}
    for key, path in paths.items():
        if (value := read(path, [key, inputs])) is not None:
            found[key] = Counts.model_validate_json(value)
    missing = [key for key in nets if key not in found]
    if missing:
        say(f"counting what a step of {'a net' if len(missing) == 1 else f'{len(missing)} nets'} consists of")
    for key, rehearsed in zip(missing, rehearse_apart([Part(config=nets[key]) for key in missing]), strict=False):
        found[key] = counts_of(rehearsed)
        keep(paths[key], [key, inputs], found[key].model_dump_json().encode())
    return {name: found[net_key(config)] for name, config in configs.items()}
