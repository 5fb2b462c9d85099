"""What is told of a trial while it runs: one frozen dataclass per kind of event, picklable, so that it crosses
processes and machines as it is.

A trial tells Waiting, Mended, Preparing, Started, Compiling, Tick, Point, Evaluating and Finished to whoever started
it; who runs many of them tells Begun, Retried, Failed and Paused too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Event:
    """What all events say."""

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
    """It still does; told twice a second, for whoever listens may ask for a pause."""


@dataclass(frozen=True, kw_only=True)
class Mended(Event):
    """A file of the trial is not what was written, and is made again; one for each file."""

    message: str
    """One line."""


@dataclass(frozen=True, kw_only=True)
class Changed(Mended):
    """Nothing is damaged, but the trial goes on otherwise than it would have; shown as `Mended` is."""


@dataclass(frozen=True, kw_only=True)
class Preparing(Event):
    """About once a second while planes of the whole data set are made and stored, for this trial and all later ones."""

    positions: int
    """How many are done."""
    of: int


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    """Training begins or goes on."""

    device: str
    resumed: int
    """Samples done by earlier sessions."""
    training_seconds: float
    """That these took."""


@dataclass(frozen=True)
class Compiling(Event):
    """The net is being compiled, as the job asks, or another process is waited for that compiles the same one: half a
    minute without a word, once for each net, and a moment where it was compiled before."""


@dataclass(frozen=True, kw_only=True)
class Tick(Event):
    """About once a second."""

    train_nats: float
    """Mean since the last point; nan before the first step."""
    seconds_left: float
    training_seconds: float
    """In steps, of all sessions."""
    step: float | None = None
    """Steps done; of the running one, where batches are split, the share of its parts that is done."""
    steps: int | None = None
    """How many it will be."""


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
    """As `run_trial` returns it; None where only a runner says so."""


@dataclass(frozen=True)
class Begun(Event):
    """A runner's slot takes the trial."""


@dataclass(frozen=True, kw_only=True)
class Retried(Event):
    """The trial's process died or ran out of memory, another one carries on."""

    message: str
    """One line."""


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """The trial failed."""

    message: str
    """One line."""


@dataclass(frozen=True)
class Paused(Event):
    """The trial stopped after a checkpoint, as it was asked to."""


OnProgress = Callable[[Event], bool | None]
"""Called from the trial's own thread. Returning False, except when finished, asks for a pause: the trial stops after a
checkpoint."""


def is_passing(event: Event) -> bool:
    """Whether an event says no more than how far a trial is now: the next one will say it better."""
    return isinstance(event, Preparing | Compiling | Tick | Evaluating) or (isinstance(event, Waiting) and event.again)


def steps_done(step: float) -> str:
    """12 or, within a step whose batch is split, 12.25."""
    return f"{step:,.0f}" if float(step).is_integer() else f"{step:,.2f}"


class PauseAsked(Exception):
    """`on_progress` asked for a pause where no loop of steps could see it."""
