"""What a trial reports while it runs: one frozen dataclass per kind of event, picklable for other processes and
machines.

A trial reports Waiting, Mended, Preparing, Started, Compiling, Tick, Point, Evaluating and Finished; a runner of many
trials also reports Begun, Retried, Failed and Paused.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

TICK_SECONDS = 1.0


@dataclass(frozen=True)
class Event:
    """The fields of all events."""

    kind: ClassVar[str]
    """The event's name: its class in lower case."""
    trial: str
    """Its id."""
    samples: int
    """Positions trained on."""
    total: int
    """How many it will be."""
    nats: float | None = None
    """Cross-entropy on the progress subset at the last point, None before it."""
    samples_per_s: float | None = None
    """Of wall time since the last point, None before the first step."""

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()


@dataclass(frozen=True, kw_only=True)
class Waiting(Event):
    """Another process works on the trial."""

    pid: int
    host: str
    again: bool = False
    """It still does; sent twice a second, so that the receiver can ask for a pause."""


@dataclass(frozen=True, kw_only=True)
class Note(Event):
    """An event with a line of text."""

    message: str


class Mended(Note):
    """A file of the trial is damaged and made again; one event for each file. Also: the trial cannot use a cache."""


class Retried(Note):
    """The trial's process died or ran out of memory; another one carries on."""


class Failed(Note):
    """The trial failed."""


@dataclass(frozen=True, kw_only=True)
class Preparing(Event):
    """About once a second while planes of the whole data set are made and stored, for this trial and all later ones."""

    positions: int
    """How many are done."""
    of: int


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """Training begins or resumes."""

    device: str
    resumed: int
    """Samples done by earlier sessions."""
    training_seconds: float
    """That these took."""


class Compiling(Event):
    """The net is being compiled, as the job asks, or another process compiles the same one: half a minute without
    further events, once for each net."""


@dataclass(frozen=True, kw_only=True)
class Tick(Event):
    """About once a second."""

    train_nats: float
    """Mean since the last point; nan before the first step."""
    seconds_left: float
    training_seconds: float
    """In steps, of all sessions."""


@dataclass(frozen=True, kw_only=True)
class Point(Event):
    """A line of metrics.jsonl was written, which says more."""

    train_nats: float
    training_seconds: float


@dataclass(frozen=True, kw_only=True)
class Evaluating(Event):
    """About once a second while a trained net is evaluated."""

    split: str
    history: str
    positions: int
    """How many are done."""
    of: int


@dataclass(frozen=True, kw_only=True)
class Finished(Event):
    """The trial is done, with all evaluations that its job asks for."""

    result: Mapping | None = None
    """As `run_trial` returns it; None from a runner."""


class Begun(Event):
    """A runner's slot takes the trial."""


class Paused(Event):
    """The trial stopped after a checkpoint, as it was asked to."""


OnProgress = Callable[[Event], bool | None]
"""Called from the trial's own thread. Returning False, except when finished, asks for a pause: the trial stops after a
checkpoint."""


class PauseAsked(Exception):
    """`on_progress` asked for a pause outside the loop of training steps."""


def every_second(on_progress: OnProgress, event: Callable[..., Event]) -> Callable[..., None]:
    """A callback that passes on `event(*arguments)` at most once a second. It raises PauseAsked when asked to."""
    due = time.monotonic()

    def report(*arguments) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + TICK_SECONDS
            if on_progress(event(*arguments)) is False:
                raise PauseAsked

    return report


def is_passing(event: Event) -> bool:
    """Whether an event only says how far a trial is, so that the next one replaces it."""
    return isinstance(event, Preparing | Compiling | Tick | Evaluating) or (isinstance(event, Waiting) and event.again)
