"""A study: which arms are compared, on what, with which seeds and thresholds. Written down before its first trial.

`Study` is the file `studies/<id>/study.json`; `ablations.designs` makes its arms and contrasts.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from ablations.schema import budget_label
from gonn_core.config import Digest, Strict, TrialConfig, parse_model, with_values
from gonn_core.errors import Damaged, InputError, SettingError, printable, printable_tree
from gonn_core.files.json_files import read_json
from gonn_core.metrics import METRICS
from gonn_core.settings.data import HistoryMode
from gonn_core.settings.training import Precision

FORMAT: Final = 1
M = TypeVar("M", bound=Strict)

_GONE: Final = {"outlier_ratio": 10.0, "outlier_level": 0.01}
"""Withdrawn thresholds. They stay in ids: verdicts are recomputed from trials, so a study keeps its id when the rules
that judge it improve."""
_NEW: Final = {"noise_weight": 2.0}
"""Later thresholds, with the values that leave ids unchanged."""

FolderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-][A-Za-z0-9_+.-]*$")]
"""What names a folder of a study or of a trial: nothing that leads out of the folder they are in."""


class Arm(Strict):
    """One configuration; trained once per seed."""

    id: str
    label: str
    config: TrialConfig
    """With the training view; the seeds in it are placeholders."""
    values: dict[str, str]
    """Where it differs from the base: dotted path -> value as JSON text."""
    rate_found_by: FolderName | None = None
    """The search whose rate its configuration has; None: the base's rate, or a number that was given."""


class Contrast(Strict):
    """The effect of one card: mean of the arms that have it minus mean of those that have not."""

    card: str
    with_it: tuple[str, ...]
    without: tuple[str, ...]


class TrialRef(Strict):
    """One trial of the study."""

    trial: FolderName
    arm: str
    seed: int


class EvaluationRef(Strict):
    """One evaluation that every finished trial of the study has."""

    split: Literal["validation", "test"]
    history: HistoryMode
    view: Digest
    subset: Digest
    positions: int
    games: int

    @property
    def size_text(self) -> str:
        """`20,174 positions of 107 games`."""
        return f"{self.positions:,} positions of {self.games:,} games"


class Looks(Strict):
    """A plan of looks at a growing number of seeds (`SEEDS=4..16`)."""

    seeds: Annotated[tuple[int, ...], Field(min_length=2)]
    """Seeds per arm at each look, rising; the last one all that the study has."""
    futility: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """A card also stops when its 90 % interval lies within ± so many nats."""
    spent: Annotated[int, Field(ge=0)] = 0
    """How many looks, the first ones, were those of a study that was complete with fewer seeds."""

    @model_validator(mode="after")
    def _rising(self):
        if list(self.seeds) != sorted(set(self.seeds)):
            raise ValueError("looks at a rising number of seeds")
        if self.spent >= len(self.seeds):
            raise ValueError("a look that is yet to come")
        return self

    @property
    def to_come(self) -> tuple[int, ...]:
        """Seeds per arm at each look that is this study's own."""
        return self.seeds[self.spent :]


class Thresholds(Strict):
    """Every number that a verdict depends on; written to the study file before its first trial.

    alpha: the largest q of helps and hurts; equivalence_level: of the interval that must lie within ±delta for a claim
    of no effect (1 - 2 alpha: two one-sided tests); min_seeds: runs on either side, below which an effect is
    underpowered; smallest_*: the least delta by unit of the metric (nats; shares of 1, as top-1; places of the played
    move's rank); claim_share: delta is at least this share of the claim; noise_weight: degrees of freedom that the
    noise of other comparisons has at most against a comparison's own (`reports.stats.model`); power: see
    `reports.stats.model`.
    """

    alpha: float = 0.05
    equivalence_level: float = 0.90
    min_seeds: Annotated[int, BeforeValidator(int)] = 3
    smallest_nats: float = 0.002
    smallest_share: float = 0.001
    smallest_rank: float = 0.05
    claim_share: float = 0.25
    noise_weight: float = 2.0
    power: float = 0.80

    @model_validator(mode="before")
    @classmethod
    def _without_withdrawn(cls, stored: Any) -> Any:
        """Committed studies hold two thresholds that no verdict uses now."""
        return {k: v for k, v in stored.items() if k not in _GONE} if isinstance(stored, dict) else stored

    def smallest(self, metric: str) -> float:
        """The least difference of `metric` that counts as an effect, in its unit; SettingError for a metric without
        one."""
        margin = METRICS[metric].margin if metric in METRICS else None
        if margin is None:
            known = sorted(name for name, facts in METRICS.items() if facts.margin is not None)
            raise SettingError("metric", metric, "no smallest effect is set for it", known)
        return getattr(self, margin) if isinstance(margin, str) else margin

    def margin(self, metric: str, claim: float | None = None) -> float:
        """delta = max(smallest effect, |claim| / 4)."""
        return max(self.smallest(metric), self.claim_share * abs(claim or 0.0))


TRAINING_POSITIONS = "; training positions: "
"""Within a study's coverage, before the number of each arm, where these differ."""


class Study(Strict):
    """Everything that was decided before the first trial."""

    format: Literal[1] = FORMAT
    id: FolderName
    title: str
    cards: tuple[str, ...]
    base: str
    budget: str
    design: Literal["add-one", "leave-one-out", "cumulative", "factorial", "screen"]
    data: str
    coverage: str
    pairing: Literal["by_position", "none"]
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    trials: tuple[TrialRef, ...]
    evaluations: tuple[EvaluationRef, ...]
    thresholds: Thresholds
    samples: int | None = None
    """Of a trial of the control, where they are not the budget's own: then the rest of the budget, its learning rate
    too, is what it is for its own."""
    lr: str | None = None
    """LR as it was given, a search by its whole id."""
    precision: Precision | None = None
    """Of all arms, where it is not the budget's own (PRECISION)."""
    results: bool = True
    """As of its budget (`ablations.schema.Budget`)."""
    first_look: bool = False
    """Whether it is the small study that comes before one of its budget: it appears in no table with others."""
    looks: Looks | None = None
    """None: one look, when all seeds are there."""
    held: dict[FolderName, str] = {}
    """Of a screen: card -> why it stands in all arms as it does."""
    left_out: dict[FolderName, str] = {}
    """Of a screen: card -> why it could not be screened here."""
    created: str
    commit: str
    dirty: bool

    @model_validator(mode="after")
    def _arms_are_there(self):
        arms = {arm.id for arm in self.arms}
        for contrast in self.contrasts:
            used = [*contrast.with_it, *contrast.without]
            if not contrast.with_it or not contrast.without or len(set(used)) < len(used) or not arms.issuperset(used):
                raise ValueError(
                    f"the contrast of {printable(contrast.card, 60)} needs arms with and without it, each once"
                )
        if not arms.issuperset(trial.arm for trial in self.trials):
            raise ValueError("a trial is of an arm that is not there")
        if len({(trial.arm, trial.seed) for trial in self.trials}) < len(self.trials):
            raise ValueError("two trials have the same arm and seed")
        return self

    @property
    def games(self) -> str:
        """Its coverage without what each arm takes of it."""
        return self.coverage.partition(TRAINING_POSITIONS)[0]

    @property
    def budget_label(self) -> str:
        """`cpu`, `cpu-bf16`: what the budget is called among other studies (`ablations.schema.budget_label`)."""
        return budget_label(self.budget, self.precision)

    def arm(self, arm_id: str) -> Arm:
        """The arm of that id. Raises KeyError."""
        for arm in self.arms:
            if arm.id == arm_id:
                return arm
        raise KeyError(arm_id)

    def trials_of(self, arm_id: str) -> dict[int, str]:
        """Seed -> trial id of one arm."""
        return {t.seed: t.trial for t in self.trials if t.arm == arm_id}


def read_file(path: Path, model: type[M]) -> M:
    """The study or search in a file. Raises InputError for a file of another version or none."""
    tree, kind = read_json(path), model.__name__.lower()
    if not isinstance(tree, dict):
        raise Damaged(path, "holds no mapping")
    if tree.get("format") != FORMAT:
        version = tree.get("format")
        raise InputError(path, f"{kind} file of format {version}; this version reads format {FORMAT}")
    if printable_tree(tree) != tree:
        raise Damaged(path, f"a {kind} file with control characters, which none of ours has")
    return parse_model(model, tree, str(path))


def read_study(path: Path) -> Study:
    """The study in a file. Raises InputError for a file of another version or none."""
    return read_file(path, Study)


def seeded(config: TrialConfig, seed: int) -> TrialConfig:
    """`config` with both seeds set: what an arm trains for that seed."""
    return with_values(config, {"training.init_seed": seed, "training.data_seed": seed})


OF_STUDIES = ("data.view", "training.init_seed", "training.data_seed")
"""Settings of a configuration that a study sets in every trial."""


def study_id(
    cards: Sequence[str],
    base: str,
    budget: str,
    data: str,
    design: str,
    trials: Sequence[str],
    thresholds: Thresholds,
    evaluations: Sequence,
    looks: Looks | None = None,
) -> str:
    """Readable name plus six hex digits over everything that decides the study's outcome: the same question has the
    same id.

    It names a folder and is typed in shells: whatever is no letter, digit or one of `_+.-` in the data's name becomes
    `_`.
    """
    stored = {name: float(value) for name, value in thresholds.model_dump().items()}
    decided = {name: value for name, value in {**_GONE, **stored}.items() if _NEW.get(name) != value}
    parts: list = [list(trials), decided, [e.model_dump() for e in evaluations], design]
    outcome = json.dumps(parts + ([looks.model_dump()] if looks else []), sort_keys=True)
    names = "+".join(cards) if len(cards) <= 3 else f"{cards[0]}+{len(cards) - 1}-more"
    named = [names, base, budget, data] + ([design] if design != "add-one" else [])
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", "-".join(named)) + "-" + hashlib.sha256(outcome.encode()).hexdigest()[:6]
