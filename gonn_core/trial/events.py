"""What a running trial tells whoever started it: plain dictionaries, the same keys in all of them.

    event          waiting, started, tick, point, evaluating or finished
    trial          id
    samples total  positions trained on, and how many it will be
    nats           cross-entropy on the progress subset at the last point, None before it
    samples_per_s  of wall time since the last point, None before the first step

and by event:

    waiting        waiting (True), holder: pid and host of the process that works on the trial (told once)
    started        device, resumed: samples done by earlier sessions; training_seconds that they took; on a GPU free_bytes: of its memory
    tick           train_nats: mean since the last point; seconds_left; training_seconds: in steps, of all sessions; about once a second
    point          all of a line of metrics.jsonl
    tick, point    on a GPU also peak_bytes: the most in tensors so far; reserved_bytes: what this took of the GPU's memory
    evaluating     split, history, positions: how many done, of: how many; about once a second
    finished       all of the result
"""

from collections.abc import Callable

OnProgress = Callable[[dict], bool | None]
"""Called from the trial's own thread. Returning False, except when finished, asks for a pause: the trial stops after a
checkpoint."""


class Paused(Exception):
    """`on_progress` asked for a pause where no loop of steps could see it."""


def event(
    kind: str, trial: str, samples: int, total: int, nats: float | None, samples_per_s: float | None, **values
) -> dict:
    """One event with the keys that all of them have."""
    return {
        "event": kind,
        "trial": trial,
        "samples": samples,
        "total": total,
        "nats": nats,
        "samples_per_s": samples_per_s,
        **values,
    }
