"""Rehearsals in a process of their own: a device that pretends cannot be taken back, and takes real ones away."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from tests.rehearsal.found import Rehearsal


class Part(BaseModel):
    """What to rehearse: the arguments of `tests.rehearsal.rehearse.rehearse`."""

    model_config = ConfigDict(frozen=True)

    config: TrialConfig
    batch_size: int | None = None
    precision: str | None = None
    memory_format: str = "channels_last"


class Cannot(UserError):
    """The process that rehearses could not do it."""


def rehearse_apart(parts: Sequence[Part]) -> Iterator[Rehearsal]:
    """A rehearsal of each part, in order, as they come from one process; about two seconds of a core to start, then
    0.2 to 3 for each. Raises Cannot."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    where = Path(__file__).parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(where), *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "tests.rehearsal"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        try:
            process.stdin.write(json.dumps([part.model_dump(mode="json") for part in parts]))
            process.stdin.close()
            done = 0
            for line in process.stdout:
                yield Rehearsal.model_validate_json(line)
                done += 1
            if done < len(parts):
                last = (process.stderr.read().strip().splitlines() or ["no word of why"])[-1]
                raise Cannot(f"rehearsal without a GPU: {last}")
        finally:
            process.kill()


def main() -> int:
    """Read parts as a JSON list from the standard input, write a rehearsal a line."""
    from tests.rehearsal.rehearse import rehearse

    out, sys.stdout = sys.stdout, sys.stderr  # what torch prints is no answer
    try:
        for tree in json.load(sys.stdin):
            part = Part.model_validate_json(json.dumps(tree))
            found = rehearse(part.config, part.batch_size, part.precision, part.memory_format)
            print(found.model_dump_json(), file=out, flush=True)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
