"""From settings to a search: targets, ranges, identity, and one line for each mistake."""

import json

import pytest

from ablations.registry import load_registry
from ablations.schema import RATE
from ablations.search import rate_range, read_search
from gonn_core.config import TrialConfig, canonical, with_values
from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import read_json
from orchestration.search.optuna_rates import find_search, keep_search
from orchestration.search.planning import SearchRequest, check_search, find_target, lay_out_search
from reports.workspace import Workspace
from tests.orchestration.search_fakes import made_search
from tests.trial.helpers import starter_data


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def laid_out(tmp_path, **settings):
    request = SearchRequest(**{"name": "gonn-b5", "budget": "smoke", **settings})
    return lay_out_search(request, check_search(request)[0], starter_data(), Workspace(tmp_path))


def test_the_range_is_30_fold_around_the_own_rate():
    config = with_values(TrialConfig(), {RATE: 0.2})
    low, high = rate_range(config)
    assert high / low == pytest.approx(30, rel=0.01) and (low * high) ** 0.5 == pytest.approx(0.2, rel=0.01)
    assert rate_range(with_values(config, {RATE: 90.0}))[1] == 100.0


def test_targets(registry):
    base = find_target(registry, SearchRequest("gonn-b5", budget="smoke"))
    control = find_target(registry, SearchRequest("parametric_relu", "on", budget="smoke"))  # gonn-b5 has it
    other = find_target(registry, SearchRequest("parametric_relu", "off", budget="smoke"))
    assert control == base and base.name == "gonn-b5"
    assert other.name == "without-parametric_relu-gonn-b5" and other.config.net.activation == "relu"
    assert find_target(registry, SearchRequest("gonn-published-5b", budget="smoke")) == base
    assert (
        find_target(registry, SearchRequest("lczero-s", budget="smoke")).config.training.optimiser.learning_rate
        == 0.004
    )


@pytest.mark.parametrize("settings, setting", [
    ({"name": "gonn-b55"}, "NAME"), ({"arm": "on"}, "ARM"), ({"name": "elu", "arm": "left"}, "ARM"),
    ({"base": "gonn-b12"}, "BASE"), ({"budget": "huge"}, "BUDGET"),
    ({"name": "stall_halving", "budget": "gpu"}, "NAME"),
    ({"rates": "0.5,0.1"}, "RATES"), ({"rates": "nan,1"}, "RATES"),
    ({"rates": "1"}, "RATES"), ({"data": "nowhere"}, "DATA"),
])  # fmt: skip
def test_bad_settings(settings, setting):
    with pytest.raises(SettingError) as error:
        check_search(SearchRequest(**{"name": "gonn-b5", "budget": "smoke", **settings}))
    assert error.value.setting == setting and error.value.valid


def test_a_search_looks_at_validation_only_and_its_id_says_what_decides_it(tmp_path):
    experiment = laid_out(tmp_path)
    search, settings = experiment.search, experiment.settings
    data = starter_data()
    assert search.validation.view == data.views["validation"].digest != data.views["test"].digest
    assert settings.evaluations == (search.validation,) and settings.progress_view == data.views["validation"].digest
    assert search.config.training.init_seed == search.config.training.data_seed == search.seed == 1000
    assert laid_out(tmp_path).id == search.id
    for change in ({"trials": 17}, {"seed": 1001}, {"rates": "0.01,0.5"}, {"name": "gonn-b12"}):
        assert laid_out(tmp_path, **change).id != search.id
    changed = canonical(search.at(0.5))
    assert changed["training"]["optimiser"]["learning_rate"] == 0.5
    changed["training"]["optimiser"]["learning_rate"] = search.own_rate
    assert changed == canonical(search.config)


def test_a_search_is_written_down_once_and_found_by_its_beginning(tmp_path):
    workspace = Workspace(tmp_path)
    search = made_search()
    assert keep_search(workspace, search) == search
    later = search.model_copy(update={"created": "2027-01-01T00:00:00+00:00"})
    assert keep_search(workspace, later) == search
    assert find_search(workspace, "lr-gonn-b5") == search
    with pytest.raises(SettingError, match="SEARCH=lr-x: no such search; valid: lr-gonn-b5-smoke-starter-"):
        find_search(workspace, "lr-x")
    path = tmp_path / "searches" / search.id / "search.json"
    path.write_text(json.dumps(read_json(path) | {"format": 2}))
    with pytest.raises(InputError, match="of format 2; this version reads format 1"):
        read_search(path)
