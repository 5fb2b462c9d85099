"""The identity of a trial: pinned defaults, canonical form, errors that name the valid values."""

import functools
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core import numerics
from gonn_core.config import (
    TrialConfig,
    can_have,
    canonical,
    config_paths,
    get_path,
    has_values,
    parse_config,
    trial_id,
    with_values,
)
from gonn_core.errors import Damaged, InputError, OutOfMemory, SettingError
from tests.paths import ROOT

VALUES = (
    0,
    1,
    -1,
    2.5,
    1.0,
    10**30,
    True,
    False,
    None,
    "relu",
    "1/3",
    "2/0",
    "conv",
    "x",
    [],
    [1, 2],
    [[3, 4], [5, 6]],
    {"a": 1},
    [1, 1, 1, 1, 0.5],
)
"""Good for some settings, bad for others."""


def test_defaults_never_change():
    """Ids leave defaults out, so a changed default would give old results to new configurations. New fields may be
    added."""
    defaults = json.loads((ROOT / "tests" / "fixtures" / "defaults.json").read_text(encoding="utf-8"))
    assert len(defaults) > 100 and {path: value for path, value in defaults.items() if not _has(path, value)} == {}


def _has(path, value) -> bool:
    return has_values(TrialConfig(), {path: value})


def test_canonical_form_leaves_defaults_out():
    config = parse_config({"net": {"activation": "prelu", "trunk": {"width": 192, "dilations": [2, 3]}}})
    assert canonical(config) == {"net": {"activation": "prelu", "trunk": {"dilations": [2, 3]}}}
    assert canonical(TrialConfig()) == {}


def test_id_depends_on_values_and_numerics_versions_only():
    one = with_values(TrialConfig(), {"net.activation": "prelu"})
    assert trial_id(one) == trial_id(parse_config({"net": {"activation": "prelu", "prelu_init": 0}}))
    assert trial_id(one) != trial_id(TrialConfig())
    versions = numerics.versions()
    assert trial_id(one, versions) == trial_id(one)
    for name in versions:
        assert trial_id(one, versions | {name: versions[name] + 1}) != trial_id(one)


def test_golden_id():
    """The id of one configuration under fixed numerics versions, for ever."""
    config = parse_config({"net": {"activation": "prelu"}, "data": {"view": "0123456789abcdef0123"}})
    assert trial_id(config, {"features": 1, "nets": 1, "training": 1}) == "27f102d6309cc95e"


@pytest.mark.parametrize("tree, setting, problem", [
    ({"net": {"activation": "gelu"}}, "net.activation", "not a valid value"),
    ({"features": {"ko": "yes"}}, "features.ko", "input should be a valid boolean"),
    ({"features": {"kos": True}}, "features.kos", "no such setting"),
    ({"features": {"liberties": 5}}, "features", "set gonn takes liberties 0 or 1"),
    ({"features": {"set": "clark", "liberties": 3, "liberties_after": 0, "ladders": False}}, "features", "set clark"),
    ({"training": {"samples": 7, "batch_size": 2}}, "training", "samples must be"),
    ({"net": {"trunk": {"dilated_share": "4/3"}}}, "net.trunk.dilated_share", "a share"),
    ({"net": {"trunk": {"dilated_share": "1e-99999999"}}}, "net.trunk.dilated_share", "a share"),
    ({"training": {"samples": 8, "batch_size": 8, "batch_splits": 8, "hardest": 0.5}}, "training", "hardest"),
    ({"net": {"norm": "fixup", "trunk": {"order": "plain"}}}, "net", "norm: fixup"),
])  # fmt: skip
def test_errors_name_the_setting(tree, setting, problem):
    with pytest.raises(SettingError) as error:
        parse_config(tree)
    assert error.value.setting == f"config.{setting}" and error.value.problem.startswith(problem)
    assert (error.value.valid is None) == (setting not in ("net.activation", "features.kos"))


@pytest.mark.parametrize(
    "error", [SettingError("A", 1, "no", ["2"]), InputError("a", "no"), Damaged("a", "no"), OutOfMemory("no")]
)
def test_errors_come_back_from_another_process(error):
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))


def test_unknown_path_names_the_nearest():
    with pytest.raises(SettingError) as error:
        with_values(TrialConfig(), {"net.activatoin": "prelu"}, "card x")
    assert str(error.value).startswith("card x.net.activatoin=prelu: no such setting; valid: net.activation")


def test_every_path_can_be_read_and_set():
    config = TrialConfig()
    tree = config.model_dump(mode="json")
    for path in config_paths():
        value = tree
        for name in path.split("."):
            value = value[name]
        assert with_values(config, {path: value}) == config
        get_path(config, path)


def test_has_values_compares_as_json_does():
    config = with_values(TrialConfig(), {"net.trunk.dilations": [2, 3]})
    assert has_values(config, {"net.trunk.dilations": [2, 3], "net.norm_gamma": False})
    assert not has_values(config, {"net.trunk.dilations": [2]}) and not has_values(config, {"net.norm_gamma": True})
    assert not has_values(config, {"net.norm_gamma": 0}), "0 is no false"
    assert has_values(config, {"training.optimiser.momentum": config.training.optimiser.momentum})
    with pytest.raises(SettingError, match="net.activatoin: no such setting"):
        has_values(config, {"net.activatoin": "relu"})


def test_values_that_only_go_together():
    """They are checked with all that is changed beside them, never one by one."""
    values = {"net.family": "conv", "net.activation": "tanh"}
    assert can_have(TrialConfig(), values) and with_values(TrialConfig(), values).net.activation == "tanh"
    assert not can_have(TrialConfig(), {"net.activation": "tanh"})
    assert not can_have(TrialConfig(), {"net.trunk.width": 33})


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(config_paths()), st.sampled_from(VALUES), min_size=1, max_size=3))
def test_replaced_values_are_those_of_a_whole_tree(values):
    """Only the changed branches are built anew; outcome and error are those of the whole tree validated as JSON."""
    tree = TrialConfig().model_dump(mode="json")
    for path, value in values.items():
        *parents, leaf = path.split(".")
        functools.reduce(dict.__getitem__, parents, tree)[leaf] = value

    def outcome(make):
        try:
            config = make()
        except SettingError as error:
            return str(error)
        return repr(config), trial_id(config), config.model_fields_set

    assert outcome(lambda: with_values(TrialConfig(), values)) == outcome(lambda: parse_config(tree))


def test_history_is_frozen_only_where_some_is_dropped():
    frozen = {"data.history_frozen": True, "data.history_keep": [0.9, 1.0, 1.0, 1.0, 1.0]}
    assert with_values(TrialConfig(), frozen).data.history_frozen
    with pytest.raises(SettingError, match="history_frozen needs a history_keep below 1"):
        with_values(TrialConfig(), {"data.history_frozen": True})
