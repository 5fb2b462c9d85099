"""What a trial computes: `TrialConfig`, frozen and strict, and the identity made from it.

Every documented enhancement is a path into this schema and two values (`net.activation: relu -> prelu`). A trial's id
is a hash of the canonical form and of the numerics versions. The canonical form leaves out settings at their
defaults: a later field whose default means "as before" orphans no result. Therefore defaults never change;
`tests/test_config.py` pins them.

What does not change the numbers (device, threads, folders, labels) is no part of this schema: see
`gonn_core.trial.job`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError, model_validator

from gonn_core import numerics
from gonn_core.errors import SettingError
from gonn_core.settings.data import DataConfig, EvaluationConfig
from gonn_core.settings.features import FeatureConfig
from gonn_core.settings.gonn_net import HeadConfig, StemConfig, TrunkConfig  # noqa: F401  imported from here
from gonn_core.settings.net import NetConfig
from gonn_core.settings.strict import Digest, Strict  # noqa: F401
from gonn_core.settings.training import OptimiserConfig, ScheduleConfig, TrainingConfig  # noqa: F401

Model = TypeVar("Model", bound=BaseModel)


class TrialConfig(Strict):
    """Everything that decides a trial's numbers."""

    features: FeatureConfig = FeatureConfig()
    data: DataConfig = DataConfig()
    net: NetConfig = NetConfig()
    training: TrainingConfig = TrainingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    @model_validator(mode="after")
    def _one_reply(self):
        if self.training.auxiliary.opponent_reply and self.net.residual.output_planes > 1:
            raise ValueError(
                "training.auxiliary.opponent_reply is what net.residual.output_planes 2 and 3 learn: one of the two"
            )
        return self


def parse_config(tree: dict, setting: str = "config") -> TrialConfig:
    """Strict validation of a plain tree (lists for tuples). Raises SettingError naming the path, the value and what is
    valid."""
    return parse_model(TrialConfig, tree, setting)


def parse_model(model: type[Model], tree, setting: str) -> Model:
    """`tree` (as read from YAML or JSON) as `model`; SettingError with the first problem's path, value and
    expectation."""
    try:
        return model.model_validate_json(json.dumps(tree))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join([setting, *map(str, first["loc"])])
        valid = None
        if first["type"] == "extra_forbidden":
            owner = _model_at(model, first["loc"][:-1])
            raise SettingError(
                path, _short(first["input"]), "no such setting", sorted(owner.model_fields) if owner else None
            ) from None
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
    """The model class at a validation location, None where it is no plain sub-model."""
    for part in location:
        field = getattr(model, "model_fields", {}).get(part)
        model = field.annotation if field is not None else None
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            return None
    return model


@cache
def config_paths(model: type[BaseModel] = TrialConfig, prefix: str = "") -> tuple[str, ...]:
    """All dotted paths of leaves, e.g. `net.trunk.width`: what a card may name."""
    paths: list[str] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            paths += config_paths(field.annotation, f"{prefix}{name}.")
        else:
            paths.append(prefix + name)
    return tuple(paths)


def get_path(config: TrialConfig, path: str):
    """Value at a dotted path. Raises SettingError naming the valid paths."""
    if path not in config_paths():
        raise SettingError("path", path, "no such setting", config_paths())
    value = config
    for name in path.split("."):
        value = getattr(value, name)
    return value


def has_values(config: TrialConfig, values: Mapping[str, Any]) -> bool:
    """Whether `config` has all of these values (as in JSON: lists for tuples). Raises SettingError for a path
    that is none."""
    return all(_equal(get_path(config, path), value) for path, value in values.items())


def can_have(config: TrialConfig, values: Mapping[str, Any]) -> bool:
    """Whether `with_values` makes a configuration of these."""
    try:
        _replaced(config, _as_tree(values))
    except ValidationError:
        return False
    return True


def _equal(stored, value) -> bool:
    """Whether a value of a configuration is a JSON value: true is not 1."""
    if isinstance(stored, tuple):
        if not isinstance(value, list | tuple) or len(value) != len(stored):
            return False
        return all(_equal(*pair) for pair in zip(stored, value, strict=True))
    return stored == value and isinstance(stored, bool) == isinstance(value, bool)


def with_values(config: TrialConfig, values: Mapping[str, Any], setting: str = "config") -> TrialConfig:
    """`config` with the leaves at the dotted paths of `values` replaced, validated as a whole. Raises SettingError."""
    for path, value in values.items():
        if path not in config_paths():
            raise SettingError(f"{setting}.{path}", _short(value), "no such setting", nearest_paths(path))
    changes = _as_tree(values)
    try:
        return _replaced(config, changes)
    except ValidationError:  # the first problem is named as that of a whole tree
        return parse_config(_merged(config.model_dump(mode="json"), changes), setting)


def _as_tree(values: Mapping[str, Any]) -> dict:
    """`{"a.b": 1}` as `{"a": {"b": 1}}`."""
    tree: dict = {}
    for path, value in values.items():
        *parents, leaf = path.split(".")
        branch = tree
        for name in parents:
            branch = branch.setdefault(name, {})
        branch[leaf] = value
    return tree


def _replaced(model: Model, changes: dict) -> Model:
    """`model` with the changed branches rebuilt and validated, and all above them; the others are valid as they
    are."""
    fields = dict(model)
    for name, change in changes.items():
        branch = fields[name]
        fields[name] = _replaced(branch, change) if isinstance(branch, BaseModel) else _frozen(change)
    return type(model).model_validate(fields)


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _merged(tree: dict, changes: dict) -> dict:
    for name, change in changes.items():
        tree[name] = _merged(tree[name], change) if isinstance(tree[name], dict) else change
    return tree


def nearest_paths(path: str) -> Sequence[str]:
    """The valid paths most like `path`, or all when none is near."""
    import difflib

    return difflib.get_close_matches(path, config_paths(), 5, 0.5) or config_paths()


def canonical(config: TrialConfig) -> dict:
    """The hashed form: a plain tree without settings at their defaults."""
    return config.model_dump(mode="json", exclude_defaults=True)


def numerics_of(config: TrialConfig) -> dict[str, int]:
    """The numerics versions that a configuration's numbers depend on."""
    block = config.net.residual.block if config.net.family == "residual" else ""
    return numerics.versions(config.training.precision, block)


def trial_id(config: TrialConfig, versions: dict[str, int] | None = None) -> str:
    """16 hex digits over the canonical form and the numerics versions (those of this code unless given)."""
    text = json.dumps(
        {"config": canonical(config), "numerics": versions or numerics_of(config)},
        sort_keys=True,
        separators=(",", ":"),
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
