"""The runner of a name. Ray is imported by nobody who does not ask for it."""

from gonn_core.errors import SettingError
from orchestration.runners.base import RUN_TRIAL, Runner
from orchestration.runners.ray_cluster import address_of


def make_runner(name: str, address: str | None = None, function: str = RUN_TRIAL) -> Runner:
    """The runner of that name, on the cluster at `address` or $RAY_ADDRESS if there is one.

    function: what its workers call with a job, as an importable path. Raises SettingError (RUNNER, RAY_ADDRESS).
    """
    address = address_of(address, name)
    if name == "ray":
        from orchestration.runners.ray_runner import RayRunner

        return RayRunner(address, function)
    if name == "local":
        from orchestration.runners.local import LocalRunner

        return LocalRunner(function)
    raise SettingError("RUNNER", name, "no such runner", ["ray", "local"])
