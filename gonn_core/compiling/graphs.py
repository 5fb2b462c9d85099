"""What CUDA graphs cannot hold of a configuration: every net is compiled in one piece, but a graph is launched without
the host, which some steps ask in between."""

from collections.abc import Callable
from typing import NamedTuple

from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError


class HostWork(NamedTuple):
    """Something that the host decides within a step."""

    setting: str
    is_on: Callable[[TrialConfig], bool]
    why: str


HOST_WORK = (
    HostWork("net.trunk.chain_pooling", lambda c: c.net.trunk.chain_pooling > 0, "rounds until chains are found"),
    HostWork("net.conv.dropout", lambda c: c.net.conv.dropout > 0, "masks by the number of passes so far"),
    HostWork("training.batch_splits", lambda c: c.training.batch_splits > 1, "gradients of several parts added up"),
)
"""All there is: `tests/compiling` looks for operations of ours that the host is asked in."""


def check_graphs(config: TrialConfig) -> None:
    """Raises SettingError for a configuration that works on the host within a step."""
    for work in HOST_WORK:
        if work.is_on(config):
            problem = f"{work.setting} needs the host within a step ({work.why})"
            raise SettingError("compile", "graphs", problem, ("none", "body"))
