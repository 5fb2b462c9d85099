"""Events by name, with whatever a test does not care for filled in."""

from gonn_core.trial import events
from gonn_core.trial.events import Event

_KINDS = {
    kind.__name__.lower(): (kind, values)
    for kind, values in {
        events.Waiting: {"pid": 1, "host": "box"},
        events.Mended: {"message": "result.json: damaged"},
        events.Started: {"device": "cpu", "resumed": 0, "training_seconds": 0.0},
        events.Tick: {"train_nats": 5.0, "seconds_left": 1.0, "training_seconds": 0.0},
        events.Point: {"train_nats": 5.0, "training_seconds": 0.0},
        events.Evaluating: {"split": "test", "history": "full", "positions": 1, "of": 2},
        events.Finished: {},
        events.Begun: {},
        events.Retried: {"message": "the worker process died"},
        events.Failed: {"message": "it failed"},
        events.Paused: {},
    }.items()
}


def event(
    kind: str,
    trial: str,
    samples: int,
    total: int,
    nats: float | None = None,
    samples_per_s: float | None = None,
    **values,
) -> Event:
    """The event whose `kind` is so."""
    made, usual = _KINDS[kind]
    return made(trial, samples, total, nats, samples_per_s, **{**usual, **values})
