"""The runner of a name."""

import os

from gonn_core.errors import SettingError
from orchestration.runners.base import RUN_TRIAL, Runner
from orchestration.runners.local import LocalRunner
from orchestration.runners.ray_runner import RayRunner
from orchestration.runners.ray_tune import ADDRESS


def make_runner(name: str, address: str | None = None, function: str = RUN_TRIAL, per_gpu: int | None = None) -> Runner:
    """The runner `ray` or `local`, the former on the cluster at `address` or $RAY_ADDRESS if there is one.

    function: importable path of what workers call with a job. per_gpu: trials on each GPU (see `places`). Raises
    SettingError (RUNNER, RAY_ADDRESS).
    """
    address = address_of(address, name)
    if name == "ray":
        return RayRunner(address, function, per_gpu)
    if name == "local":
        return LocalRunner(function, per_gpu)
    raise SettingError("RUNNER", name, "no such runner", ["ray", "local"])


def address_of(given: str | None, runner: str) -> str | None:
    """Address of the cluster: `--address`, else $RAY_ADDRESS with the Ray runner; None: a private cluster.

    Raises SettingError (RAY_ADDRESS) for what is not an address, and for an address with the local runner.
    """
    if given and runner != "ray":
        raise SettingError(ADDRESS, given, f"RUNNER={runner} uses no cluster", "RUNNER=ray, or no address")
    address = (given or os.environ.get(ADDRESS)) if runner == "ray" else None
    if not address:
        return None
    if "://" in address or address == "local":
        raise SettingError(ADDRESS, address, "the command must run on a node of the cluster", "HOST:PORT, or auto")
    return address
