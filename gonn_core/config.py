"""What a trial computes: `TrialConfig`, frozen and strict, and the identity made from it.

Every documented enhancement is a path into this schema and two values (`net.activation: relu -> prelu`). A trial's id is a hash
of the canonical form and of the numerics versions. The canonical form leaves out whatever stands at its default: a later field
whose default means "as before" orphans no result. Therefore defaults never change; `tests/test_config.py` pins them.

What does not change the numbers (device, threads, folders, labels) is no part of this schema: see `gonn_core.trial.job`.
"""

import hashlib
import json
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from gonn_core import numerics
from gonn_core.errors import SettingError
from gonn_core.features import choices


class Strict(BaseModel):
    """Frozen, no unknown fields, no coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _check_share(text: str) -> str:
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError("a share of the trunk's width such as 1/3") from None
    if not 0 < share <= 1:
        raise ValueError("a share of the trunk's width, above 0 and at most 1")
    return text


Share = Annotated[str, AfterValidator(_check_share)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{20}$")]
Probability = Annotated[float, Field(ge=0, le=1)]


class FeatureConfig(Strict):
    """Input planes: which of a system's named planes the net sees. Stone planes are always there in some form.

    What a set cannot do is refused (`gonn_core.features.choices.VALID`), so a set other than gonn must say what it lacks.
    """

    set: Literal["gonn", "go_nn", "clark", "cazenave"] = "gonn"
    """gonn: 26 planes (spec gonn.md 1); go_nn: 21; clark: 2 to 8, and history; cazenave: 45 (spec other_systems.md 1.2, 2.2, 4.2)."""
    liberties: Annotated[int, Field(ge=0, le=5)] = 4
    """Planes of own and opponent's chains with exactly 1 … k liberties; in the other sets the last of them holds k or more."""
    liberties_after: Annotated[int, Field(ge=0, le=6)] = 3
    """Planes of empty points where own or opponent's move makes a chain of exactly 1 … k liberties (cazenave: 0 … 5, 6 or more)."""
    ko: bool = True
    history: Annotated[int, Field(ge=0, le=5)] = 5
    """How many of the last moves have a plane; go_nn counts setup stones as moves."""
    ladders: bool = True
    """gonn: inescapable atari, two-liberty chains that a ladder catches, the moves that do it. cazenave: its planes 32-38 and 44."""
    ones: bool = True
    """A plane of ones: on-board in gonn, where it is always there."""
    captures: bool = False
    """go_nn: planes of points that capture 1, 2, 3, 4 or more stones."""
    edge: Literal["none", "channel", "as_opponent"] = "none"
    """clark: what stands beyond the edge of the *input*: nothing, a plane of its own, an opponent's stone. The net pads with it."""
    third_line: bool = False
    zeros: bool = False
    """cazenave: a plane of zeros, which changes nothing: a negative control."""
    ko_flag: bool = False
    """cazenave: a plane of ones when there is a ko point."""

    @model_validator(mode="after")
    def _set_has_these_planes(self):
        if found := choices.problem(self):
            raise ValueError(found)
        return self


class DataConfig(Strict):
    """Which positions a trial sees, and how."""

    view: Digest = "0" * 20
    """Digest of the training view; all zeros until a data set has been prepared."""
    sampling: Literal["epochs", "replacement"] = "epochs"
    augmentation: Literal["batch", "sample", "none"] = "batch"
    """One random symmetry per batch (GoNN), per position (Cazenave), none (Clark & Storkey)."""
    history_keep: tuple[Probability, Probability, Probability, Probability, Probability] = (1.0, 1.0, 1.0, 1.0, 1.0)
    """Nested probabilities of keeping the move 1 … 5 ago in a training batch (GoNN 1.3: .90, .95, .95, .98, .98)."""


class StemConfig(Strict):
    """First convolution, planes to trunk."""

    kernel: Literal[3, 5] = 5
    center_kernel: bool = False
    """A second, 1x1 kernel added to the centre tap (GoNN 2.2)."""


class TrunkConfig(Strict):
    """Residual blocks (GoNN 2.3, 2.4)."""

    width: Annotated[int, Field(ge=4, le=1024, multiple_of=4)] = 192
    blocks: Annotated[int, Field(ge=1, le=64)] = 5
    dilations: tuple[Annotated[int, Field(ge=1, le=8)], ...] = ()
    """Dilations of blocks 2, 3, … in turn, repeated; empty: ordinary blocks."""
    dilated_share: Share = "1/3"
    global_pooling: bool = False
    """Replace blocks at relative depth 6/12 and 10/12 (one of 12 blocks in six, at least one) by global-pooling blocks."""
    global_share: Share = "1/3"
    center_init: Annotated[float, Field(ge=0, le=2)] = 0.0
    """Extra draw on the centre tap of every 3x3 kernel in the blocks, in units of a 1x1 He draw (GoNN 2.6: 0.3)."""
    ladder_block: bool = False
    """Insert a block that carries values along the four diagonals, after half of the blocks (GoNN 3.2)."""
    ladder_share: Share = "1/8"
    """Channels of its four directions together; 24 of 192 as published, 6 a direction."""
    chain_pooling: Annotated[int, Field(ge=0, le=2)] = 0
    """Insert so many blocks that pool over chains of stones: after half, after three quarters of the blocks (GoNN 3.1)."""
    chain_pooling_share: Share = "1/6"
    chain_pooling_init: Annotated[float, Field(gt=0, le=10)] = 3.0
    """Their last kernel's initial size in units of a He draw: 3 as committed, which counted a 3x3 kernel's fan-in as a 1x1 kernel's."""
    wide_blocks: Literal["none", "shared", "split"] = "none"
    """Insert low-rank blocks of 9x1 and 1x9 kernels after three quarters of the blocks: one that uses its kernels in both
    orientations, or two with a kernel pair each (GoNN 3.4)."""
    wide_share: Share = "1/3"


class HeadConfig(Strict):
    """Policy head (GoNN 2.5)."""

    pooling: Literal["none", "mean_max", "mean_max_stdev"] = "none"
    """What is pooled over the board and fed back to every point."""
    pooled_share: Share = "1/6"
    share: Share = "1/4"
    activation: Literal["crelu", "relu"] = "crelu"
    """Before the last convolution; crelu: relu of the channels and of their negatives, twice as many."""


class NetConfig(Strict):
    """A net of the GoNN family. The defaults are the bare net: an enhancement is what a base or a card turns on."""

    family: Literal["gonn"] = "gonn"
    activation: Literal["relu", "prelu"] = "relu"
    prelu_init: Annotated[float, Field(ge=-1, le=1)] = 0.0
    norm_gamma: bool = False
    """Trainable scale in batch normalisation."""
    stem: StemConfig = StemConfig()
    trunk: TrunkConfig = TrunkConfig()
    head: HeadConfig = HeadConfig()


class OptimiserConfig(Strict):
    """Stochastic gradient descent (GoNN 4.1, 4.2); rates are for a loss averaged over the batch."""

    kind: Literal["sgd"] = "sgd"
    learning_rate: Annotated[float, Field(gt=0, le=100)] = 0.064
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    nesterov: bool = True
    weight_decay_rows: Annotated[float, Field(ge=0)] = 0.3
    """L2 coefficient times training rows: c = this / max(1000, rows of the view); on kernels, matrices and PReLU slopes."""
    center_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Learning-rate factor of the centre tap of 3x3 kernels in the blocks (GoNN 2.6: 1.5)."""
    head_factor: Annotated[float, Field(gt=0, le=10)] = 0.25
    """Learning-rate factor of the head's last normalisation and last convolution."""

    @model_validator(mode="after")
    def _nesterov_needs_momentum(self):
        if self.nesterov and self.momentum == 0:
            raise ValueError("nesterov needs momentum above 0")
        return self


class ScheduleConfig(Strict):
    """Learning rate over samples."""

    kind: Literal["gonn", "linear", "constant"] = "gonn"
    """gonn: 1/((k+8)/8)^2, k drops by one every 4M samples after 5M (GoNN 4.1); linear: to 0 at the last sample."""
    compression: Annotated[float, Field(gt=0)] = 1.0
    """gonn only: published samples that pass per sample trained, so that a small budget ends where the published run ended."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Samples over which the rate rises linearly from 0."""


class TrainingConfig(Strict):
    """How long and how a net is trained."""

    samples: Annotated[int, Field(ge=1)] = 5_000_000
    batch_size: Annotated[int, Field(ge=2, le=65536)] = 200
    loss: Literal["cross_entropy"] = "cross_entropy"
    optimiser: OptimiserConfig = OptimiserConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    precision: Literal["fp32", "bf16"] = "fp32"
    """bf16: autocast of the forward pass; weights, optimiser and loss stay fp32."""
    init_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    data_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @model_validator(mode="after")
    def _whole_batches(self):
        if self.samples % self.batch_size:
            raise ValueError(f"samples must be a multiple of batch_size ({self.batch_size})")
        if self.schedule.warmup > self.samples:
            raise ValueError("schedule.warmup must not exceed samples")
        return self


class TrialConfig(Strict):
    """Everything that decides a trial's numbers."""

    features: FeatureConfig = FeatureConfig()
    data: DataConfig = DataConfig()
    net: NetConfig = NetConfig()
    training: TrainingConfig = TrainingConfig()


def parse_config(tree: dict, setting: str = "config") -> TrialConfig:
    """Strict validation of a plain tree (lists for tuples). Raises SettingError naming the path, the value and what is valid."""
    return parse_model(TrialConfig, tree, setting)


def parse_model(model: type[BaseModel], tree, setting: str):
    """`tree` (as read from YAML or JSON) as `model`; SettingError with the first problem's path, value and expectation."""
    try:
        return model.model_validate_json(json.dumps(tree))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join([setting, *map(str, first["loc"])])
        valid = None
        if first["type"] == "extra_forbidden":
            owner = _model_at(model, first["loc"][:-1])
            raise SettingError(path, _short(first["input"]), "no such setting", sorted(owner.model_fields) if owner else None) from None
        if first["type"] in ("literal_error", "enum"):
            valid = first["ctx"]["expected"]
            raise SettingError(path, _short(first["input"]), "not a valid value", valid) from None
        message = first["msg"].removeprefix("Value error, ")
        value = "(missing)" if first["type"] == "missing" else _short(first["input"])
        raise SettingError(path, value, message[0].lower() + message[1:]) from None


def _short(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:77] + "…"


def _model_at(model, location):
    """The model class that a validation location lies in, None where it is no plain sub-model."""
    for part in location:
        field = getattr(model, "model_fields", {}).get(part)
        model = field.annotation if field is not None else None
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return None
    return model


def config_paths(model: type[BaseModel] = TrialConfig, prefix: str = "") -> list[str]:
    """All dotted paths of leaves, e.g. `net.trunk.width`: what a card may name."""
    paths = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            paths += config_paths(field.annotation, f"{prefix}{name}.")
        else:
            paths.append(prefix + name)
    return paths


def get_path(config: TrialConfig, path: str):
    """Value at a dotted path. Raises SettingError naming the valid paths."""
    if path not in config_paths():
        raise SettingError("path", path, "no such setting", config_paths())
    value = config
    for name in path.split("."):
        value = getattr(value, name)
    return value


def with_values(config: TrialConfig, values: dict, setting: str = "config") -> TrialConfig:
    """`config` with the leaves at the dotted paths of `values` replaced, validated as a whole. Raises SettingError."""
    tree = config.model_dump(mode="json")
    for path, value in values.items():
        if path not in config_paths():
            raise SettingError(f"{setting}.{path}", _short(value), "no such setting", nearest_paths(path))
        branch = tree
        *parents, leaf = path.split(".")
        for name in parents:
            branch = branch[name]
        branch[leaf] = value
    return parse_config(tree, setting)


def nearest_paths(path: str) -> list[str]:
    """The valid paths most like `path`, or all when none is near."""
    import difflib

    return difflib.get_close_matches(path, config_paths(), 5, 0.5) or config_paths()


def canonical(config: TrialConfig) -> dict:
    """The hashed form: a plain tree without whatever stands at its default."""
    return config.model_dump(mode="json", exclude_defaults=True)


def trial_id(config: TrialConfig, versions: dict[str, int] | None = None) -> str:
    """16 hex digits over the canonical form and the numerics versions (those of this code unless given)."""
    text = json.dumps({"config": canonical(config), "numerics": versions or numerics.versions()}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
