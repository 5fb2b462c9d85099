"""What a device that pretends told of nets, kept: operations and memory of a step.

`$GONN_HOME/speeds/rehearsals.json` holds those of today's code and torch; of other code they are made again. One
takes a second.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import gonn_core
from gonn_core.config import TrialConfig
from gonn_core.errors import Damaged
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.locks import locked
from gonn_core.files.told import tell
from gonn_core.rehearsal.found import Rehearsal
from gonn_core.rehearsal.process import Part, rehearse_apart
from orchestration.speeds.kept import net_key
from reports.workspace import Workspace

FORMAT = 1
_ROOMS = ("evaluation", "nets", "rehearsal", "training")
"""Of gonn_core: what runs in a step or an evaluation."""


def rehearsed(workspace: Workspace, configs: Mapping[str, TrialConfig]) -> dict[str, Rehearsal]:
    """Name -> rehearsal of its net at its batch size and precision; those that are not known yet are made, about four
    seconds for the first and one for each more. Raises `gonn_core.rehearsal.process.Cannot`, InputError."""
    keys = {name: net_key(config) for name, config in configs.items()}
    path = workspace.root / "speeds" / "rehearsals.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent / ".rehearsals.lock"):
        known = _known(path)
        missing = {keys[name]: config for name, config in configs.items() if keys[name] not in known}
        if missing:
            parts = [Part(config=config) for config in missing.values()]
            known |= dict(zip(missing, rehearse_apart(parts), strict=True))
            nets = {key: found.model_dump(mode="json") for key, found in known.items()}
            write_json(path, {"format": FORMAT, "code": _code(), "nets": nets})
    return {name: known[key] for name, key in keys.items()}


def _known(path: Path) -> dict[str, Rehearsal]:
    try:
        tree = read_record(path, FORMAT, ("code", "nets"))
    except Damaged as damage:
        tell(damage, "nets are rehearsed again")
        return {}
    if tree is None or tree["code"] != _code():
        return {}
    return {key: Rehearsal.model_validate_json(json.dumps(found)) for key, found in tree["nets"].items()}


@cache
def _code() -> str:
    """Sixteen digits over the code that is rehearsed, and the version of torch."""
    from importlib.metadata import version

    folder = Path(gonn_core.__file__).parent
    digest = hashlib.sha256(version("torch").encode())
    for path in sorted(path for room in _ROOMS for path in (folder / room).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
