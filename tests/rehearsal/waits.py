"""Settings with which the host waits for the device in every step, and why; with all others it never does."""

from collections.abc import Callable
from typing import NamedTuple

from gonn_core.config import TrialConfig
from tests.rehearsal.found import Rehearsal


class Wait(NamedTuple):
    """One kind of wait."""

    setting: str
    applies: Callable[[TrialConfig], bool]
    operations: tuple[str, ...]
    """As in `Rehearsal.syncs`."""
    reason: str


WAITS = (
    Wait(
        "net.trunk.chain_pooling",
        lambda config: config.net.family == "gonn" and config.net.trunk.chain_pooling > 0,
        ("forward aten.equal", "evaluation aten.equal"),
        "chains are joined in rounds until nothing changes, and each round asks whether it did",
    ),
)


def surprises(config: TrialConfig, found: Rehearsal) -> list[str]:
    """What of a rehearsal should not be: its error, waits that WAITS does not name, copies, operations that may give
    other bits each time."""
    known = {operation for wait in WAITS if wait.applies(config) for operation in wait.operations}
    waits = [f"the host waits: {name} ({count})" for name, count in found.syncs.items() if name not in known]
    copies = [f"a copy between host and device: {name} ({count})" for name, count in found.copies.items()]
    unordered = [f"other bits each time: {name} ({count})" for name, count in found.unordered.items()]
    return [*([found.error] if found.error else []), *waits, *copies, *unordered]
