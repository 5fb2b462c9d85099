"""What a declaration may say: enhancements, their documented claims, base nets, budgets. Published results:
`ablations.published_results`.

All models are frozen and strict. What one file can tell by itself is checked here; what needs other files (paths
against `TrialConfig`, ids of bases) is checked by `ablations.registry`.

Units: nats; top-1, top-4, probability and win rate as shares of 1 (0.2 points are 0.002); rank in places; samples/s as
ratio on/off.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gonn_core.config import Strict, TrialConfig
from gonn_core.metrics import CLAIMED, METRICS
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.training import Precision

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9]+([_.-][a-z0-9]+)*$", max_length=64)]
Document = Literal[
    "gonn_sandbox",
    "clark_storkey_2014",
    "go_nn_theduck314",
    "cazenave_2017",
    "lczero_training_fork",
    "gonn_later",
    "later_ideas",
]
System = Literal["gonn", "go_nn", "clark_storkey", "lczero", "cazenave", "later"]
Evidence = Literal["stated", "read_from_picture", "read_from_code", "derived", "unverified_memory"]
"""stated: words or numbers of the document's text; read_from_picture: read off one of its figures; read_from_code: of
its code or history; derived: our own arithmetic or conclusion from these; unverified_memory: compared, never judged."""
Stage = Literal["finished", "any", "early", "unknown"]
"""finished: at or beyond the end of the base's published run; any: whatever the number of samples, or from
`samples_from` on; early: within the first EARLY of that run, for what sped training up; unknown: the document does not
say, so the claim is never judged."""
EARLY = 0.1
"""Share of a published run that counts as early."""


def _as_tuple(names):
    return tuple(names) if isinstance(names, list) else (names,) if isinstance(names, str) else names


Games = Annotated[tuple[Id, ...], BeforeValidator(_as_tuple)]
"""The data sets with the years, filter and split that a claim was measured on, one or several; ANY_GAMES: not stated,
or without influence; other: none of ours."""
ANY_GAMES = ("any",)

if TYPE_CHECKING:
    Metric = str
else:
    Metric = Literal[CLAIMED]
WeightStatistic = Literal[
    "prelu_slope_mean",
    "prelu_slope_sd",
    "prelu_pooled_slope_mean",
    "kernel_rms_center",
    "kernel_center_to_edge",
    "kernel_corner_to_edge",
    "kernel_symmetry",
]
"""prelu_slope_mean, _sd: over the slopes of each layer but the pooled one; prelu_pooled_slope_mean: of the head's
pooled layer;
kernel_rms_center: r.m.s. over channels of the centre tap of each 3x3 kernel in the blocks; kernel_center_to_edge,
kernel_corner_to_edge: ratios of the r.m.s. at those taps; kernel_symmetry: of a plain net's first
convolution with free weights, the share of its filters' variance that is the same under all 8 symmetries. Where layers
differ a claim gives their range."""


def _both_ends(ends):
    low, high = ends
    if low is None and high is None:
        raise ValueError("a range needs at least one end")
    if low is not None and high is not None and low > high:
        raise ValueError("a range goes from low to high")
    return ends


RATE = "training.optimiser.learning_rate"
PRECISION = "training.precision"
YAML = (".yaml", ".yml")
"""Endings of files of declarations."""
Rate = Annotated[float, Field(gt=0, le=100)]
FoundRate = Annotated[str, Field(pattern=r"^found:[A-Za-z0-9_+-][A-Za-z0-9_+.-]*$")]
"""`found:SEARCH`: the rate that a search of the workspace found, resolved to its number when a study is planned."""


class Toggle(Strict):
    """The two values of one config path; JSON values as they stand in a config tree."""

    off: Any
    on: Any

    @model_validator(mode="after")
    def _differ(self):
        if self.off == self.on:
            raise ValueError("off and on must differ")
        return self


def budget_label(budget: str, precision: Precision | None) -> str:
    """`cpu`, or `cpu-bf16` where trials have another precision than the budget's own: the name of a budget wherever
    it is shown, and wherever studies are compared or pooled."""
    return budget if precision is None else f"{budget}-{precision}"


def toggle_values(toggles: Mapping[str, Any], state: str) -> dict[str, Any]:
    """Path -> value of toggles (objects with off and on) in the state off or on."""
    return {path: getattr(toggle, state) for path, toggle in toggles.items()}


class Probe(Strict):
    """Probability of one move in one of the documents' test positions (spec: GoNN 7), or of a stone to be laddered, as
    the ladder head has it."""

    position: Id
    move: Annotated[str, Field(pattern=r"^[A-HJ-T](1[0-9]|[1-9])$")]
    head: Literal["policy", "ladders"] = "policy"
    minus: Id | None = None
    """A second position, whose probability of the same move is taken off: what one net answers with something that
    only the position tells, such as its last move, and without it."""


class Claim(Strict):
    """One statement of a document about one metric.

    A `difference` is on minus off; a level (`on`, `off`) is the metric itself in that arm, with its direction stated
    against an untrained net; one of a metric of positions has a value or a range. Neither value nor range: only a
    direction is claimed.
    """

    id: Id
    metric: Metric
    quantity: Literal["difference", "on", "off"] = "difference"
    direction: Literal["decrease", "increase", "no_change"]
    value: float | None = None
    range: Annotated[tuple[float | None, float | None], AfterValidator(_both_ends)] | None = None
    """Low and high end; an open end is null."""
    statistic: WeightStatistic | None = None
    probe: Probe | None = None
    samples: Annotated[int, Field(ge=1)] | None = None
    """Samples trained when it was measured; where none are stated, `stage` says of which nets it is claimed."""
    stage: Stage | None = None
    samples_from: Annotated[int, Field(ge=1)] | None = None
    """The fewest samples that a claim at any number of samples is about."""
    window: Annotated[int, Field(ge=1)] | None = None
    """Samples at the end of training over which the document averaged a training loss."""
    base: Id | None
    """The base it was measured on; null: the document's net is not known or is none of ours."""
    conditions: dict[str, Any] = {}
    """Config path -> value, where the net or its training was another than the base's."""
    not_told: tuple[Text, ...] = ()
    """Config paths, or their beginnings, that the document leaves open for this claim, as well as the base's."""
    unmatched: Text | None = None
    """In what the document's own comparison differs from every study that can be made here."""
    missing_matters: bool = True
    """False: what the base's published net had and ours has not makes no difference to it."""
    planes: Annotated[int, Field(ge=1)] | None = None
    """Input planes of the net that has the enhancement, as its author had them."""
    history: HistoryMode = "full"
    """In which evaluation the metric is read: with all earlier moves, with what the published test rows kept, with
    none. Of a win rate: what both players are shown."""
    games: Games
    data: Text
    """The games in the document's words."""
    document: Document
    section: Text
    evidence: Evidence
    note: Text | None = None
    withdrawn_in: Text | None = None
    """`document: section` of the card's later claim, with which its author took this one back."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The claimed range, an open end infinite, a single value as both ends; None for a mere direction."""
        if self.value is not None:
            return self.value, self.value
        if self.range is None:
            return None
        low, high = self.range
        return -math.inf if low is None else low, math.inf if high is None else high

    def span(self, end: int) -> tuple[float, float]:
        """Fewest and most samples at which it is judged, on a base whose published run ended at `end`; both infinite
        for an unknown stage."""
        if self.samples is not None:
            return self.samples, self.samples
        spans = {"finished": (end, math.inf), "any": (self.samples_from or 0, math.inf), "early": (0, EARLY * end)}
        return spans.get(self.stage or "", (math.inf, math.inf))

    @model_validator(mode="after")
    def _measured_somewhere(self):
        if (self.samples is None) == (self.stage is None):
            raise ValueError("give the samples, or else the stage (finished, any, early, unknown)")
        if self.samples_from is not None and self.stage != "any":
            raise ValueError("samples_from belongs to the stage any")
        if self.window is not None and METRICS[self.metric].source != "curve":
            raise ValueError("window belongs to a metric of training")
        if self.base is None and (self.conditions or self.not_told):
            raise ValueError("conditions and not_told are set against a base: give one")
        return self

    @model_validator(mode="after")
    def _consistent(self):
        if self.value is not None and self.range is not None:
            raise ValueError("give a value or a range, not both")
        if (self.metric == "weight_statistic") != (self.statistic is not None):
            raise ValueError("statistic belongs to the metric weight_statistic, and it needs one")
        if (self.metric == "probe") != (self.probe is not None):
            raise ValueError("probe belongs to the metric probe, and it needs one")
        if self.probe is not None and self.probe.minus is not None and self.quantity == "difference":
            raise ValueError("what one net answers in two positions is a level of one arm (quantity on or off)")
        source = METRICS[self.metric].source
        if self.history != "full" and source != "positions" and (source, self.history) != ("games", "none"):
            raise ValueError("only a metric of positions has another history; a win rate can be one without (none)")
        of_an_arm = self.metric in ("weight_statistic", "probe") or (source == "positions" and self.bounds is not None)
        if self.quantity != "difference" and not of_an_arm:
            raise ValueError(
                "only a weight_statistic or a probe can be claimed as a level (quantity on or off), and a metric of "
                "positions with a value or range"
            )
        ends = [end for end in self.bounds or () if math.isfinite(end)]
        if METRICS[self.metric].unit == "share" and any(abs(end) > 1 for end in ends):
            raise ValueError("this metric is a share of 1: write 0.002 for 0.2 points")
        if self.metric == "parameters" and any(not end.is_integer() for end in ends):
            raise ValueError("parameters are counted in whole numbers")
        still = 1.0 if self.metric == "samples_per_s_ratio" else 0.0
        wrong = {
            "decrease": lambda end: end > still,
            "increase": lambda end: end < still,
            "no_change": lambda end: False,
        }[self.direction]
        if self.quantity == "difference" and any(map(wrong, ends)):
            raise ValueError(
                f"the value does not go with the direction {self.direction} (a difference is on minus off)"
            )
        return self


class Condition(Strict):
    """Another card that must be on, or a config path that must have a value."""

    card: Id | None = None
    path: Text | None = None
    value: Any = None

    @model_validator(mode="after")
    def _one_kind(self):
        if (self.card is None) == (self.path is None) or (self.card is not None and self.value is not None):
            raise ValueError("a condition is either `card: id` or `path: …` with `value: …`")
        return self


class Replication(Strict):
    """What others found when they tried it: not judged here, shown next to our verdict."""

    source: Text
    """Repository and thread, such as tensorflow/minigo#416 (2018-09)."""
    net: Text
    runs: Annotated[int, Field(ge=1)] | None
    """Of each arm; null: not stated."""
    outcome: Text


class Enhancement(Strict):
    """A toggle: config paths with their off and on values, and what the documents claim for it."""

    id: Id
    title: Text
    system: System
    summary: Text
    toggles: Annotated[dict[str, Toggle], Field(min_length=1)]
    forms: dict[Id, Annotated[dict[str, Toggle], Field(min_length=1)]] = {}
    """Base id -> toggles instead of the above, where a base has the enhancement in another form; a path left out stays
    as it is. `<base id>.<budget id>`: the form under one budget, where the base is scaled in what the card toggles.
    Budget id: that of all other bases under it."""
    base: Id = "gonn-b5"
    pairing: Literal["by_position", "none"] = "by_position"
    """none: the arms cannot see the same positions in the same order."""
    requires: tuple[Condition, ...] = ()
    excludes: tuple[Condition, ...] = ()
    idle: dict[Id, Text] = {}
    """Budget id -> why both arms compute the same under it, so that it refuses the card: on every base that budgets
    choose for the card. `ablations.checks` finds all such budgets."""
    moves_best_rate: bool = False
    """It is known or bound to shift the best learning rate: compare at a tuned rate for each arm too."""
    lr: dict[Id, Rate | FoundRate] = {}
    """`<base id>.<budget id>`, or budget id for all other bases -> learning rate, under that budget, of the arm in
    which the card is not as the base has it."""
    claims: tuple[Claim, ...]
    replications: tuple[Replication, ...] = ()

    def values(self, state: Literal["off", "on"]) -> dict[str, Any]:
        """Path -> value in that state."""
        return toggle_values(self.toggles, state)

    def on_base(self, base_id: str, budget_id: str = "") -> "Enhancement":
        """This card with the toggles in the form that a base has them, under a budget if one is named."""
        for form in (f"{base_id}.{budget_id}", budget_id, base_id):
            if form in self.forms:
                return self.model_copy(update={"toggles": self.forms[form]})
        return self

    def rate_place(self, base_id: str, budget_id: str) -> str | None:
        """The key of `lr` for a base under a budget; None where it has no rate of its own."""
        return next((place for place in (f"{base_id}.{budget_id}", budget_id) if place in self.lr), None)

    @model_validator(mode="after")
    def _claims_have_names(self):
        names = [claim.id for claim in self.claims]
        if len(set(names)) < len(names):
            raise ValueError("two claims have the same id")
        later = {f"{claim.document}: {claim.section}" for claim in self.claims if claim.withdrawn_in is None}
        for claim in self.claims:
            if claim.withdrawn_in not in {None, *later}:
                raise ValueError(f"{claim.id} is withdrawn_in {claim.withdrawn_in}, from where the card has no claim")
        return self


class Base(Strict):
    """A base net with the way it was trained."""

    id: Id
    also_called: tuple[Id, ...] = ()
    """Further names that find it."""
    title: Text
    system: System
    config: TrialConfig
    """Data view and seeds stay open: a study sets them."""
    parameters: Annotated[int, Field(ge=1)] | None = None
    """As published; null where no count was."""
    schedule_end: Annotated[int, Field(ge=1)]
    """Samples at which the published run ended; `training.samples` among `not_told`: our choice."""
    document: Document
    section: Text
    evidence: Evidence
    inferred: tuple[Text, ...] = ()
    """What is our deduction, not the document's word."""
    missing: tuple[Text, ...] = ()
    """Parts of the published net that this one has not: no claim is made under exactly these conditions."""
    not_told: tuple[Text, ...] = ()
    """Config paths, or their beginnings, that neither document nor code gives: their values are our choice, and no
    condition of a claim."""
    scaled: dict[Id, dict[str, Any]] = {}
    """Budget id -> what that budget overrides in this base, instead of its own overrides."""
    lr: dict[Id, Rate | FoundRate] = {}
    """Budget id -> learning rate of what is trained on this base under that budget, in place of the configuration's."""

    @property
    def file(self) -> str:
        """What errors call its file."""
        return self.id if self.id.endswith(YAML) else f"bases/{self.id}.yaml"

    def overrides(self, budget: "Budget") -> dict[str, Any]:
        """What a budget sets in this base, samples apart; the caller's to change."""
        own = self.scaled.get(budget.id, budget.overrides)
        return {**own} if budget.precision is None else {**own, PRECISION: budget.precision}

    def in_precision(self, budget: "Budget", precision: Precision | None) -> "Budget":
        """`budget` with this base's trials in a precision; as it is where that is its own, and for None."""
        own = self.overrides(budget).get(PRECISION, self.config.training.precision)
        return budget if precision in (None, own) else budget.model_copy(update={"precision": precision})


class FirstLook(Strict):
    """A small study of the same arms, run before one of this budget, so that there is a verdict within minutes. The
    rest of the budget stays as it is; the schedule ends within these samples."""

    samples: Annotated[int, Field(ge=1)]
    seeds: Annotated[int, Field(ge=3, le=100)]
    """No fewer than it takes for a verdict."""
    evaluation_positions: Annotated[int, Field(ge=1)]
    """At least so many, in whole games, with the full history alone."""
    progress_positions: Annotated[int, Field(ge=1)]
    """For each point of a curve."""
    most_arms: Annotated[int, Field(ge=2)] = 3
    """Studies of more arms, the control counted, have no first look."""


class Budget(Strict):
    """How long and how large: what it overrides in a base, for how many samples, seeds and evaluation positions."""

    id: Id
    title: Text
    cost: Text
    """What a trial is expected to cost, in words."""
    results: bool = True
    """false: it only checks that everything runs. Its numbers get no verdicts and appear in no table with others."""
    base_from: Literal["card", "claim"] = "card"
    """card: the card's default base; claim: the base on which its leading claim was made."""
    samples: Annotated[int, Field(ge=1)] | Literal["claim"]
    overrides: dict[str, Any] = {}
    """For bases that do not say themselves how they are scaled."""
    compress: bool = False
    """Run through the base's published schedule, to its end, in these samples."""
    seeds: Annotated[int, Field(ge=1, le=100)]
    evaluation_positions: Annotated[int, Field(ge=1)] | Literal["all"]
    """At least so many, in whole games."""
    progress_positions: Annotated[int, Field(ge=1)] = 2048
    """The same for each point of a curve, of validation games."""
    progress_every: Annotated[int, Field(ge=1)] | None = None
    """Samples between the points of a curve, which tell the means of training since the last one; null: a twelfth of
    all."""
    look_every: Annotated[int, Field(ge=1)] = 1
    """In a study each so manieth point, counted from the last one, looks at validation games; the others tell of
    training alone."""
    first_look: FirstLook | None = None
    """null: none."""
    precision: Precision | None = None
    """In place of its own, as a command asks for it (`Base.in_precision`); a declaration has training.precision among
    its overrides."""

    @property
    def label(self) -> str:
        """See `budget_label`."""
        return budget_label(self.id, self.precision)
