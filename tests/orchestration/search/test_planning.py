"""From settings to a search: targets, ranges, identity, and one line for each mistake."""

import json

import pytest

from ablations.registry import load_registry
from ablations.search import default_range, read_search
from gonn_core.config import canonical
from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import read_json
from orchestration.search.folder import find_search, keep_search
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


def test_the_range_is_30_fold_around_the_own_rate_unless_the_base_states_one():
    low, high = default_range(0.2)
    assert high / low == pytest.approx(30, rel=0.01) and (low * high) ** 0.5 == pytest.approx(0.2, rel=0.01)
    assert default_range(90.0)[1] == 100.0


def test_a_base_states_its_range_by_budget(registry):
    base = registry.base("gonn-b5")
    tree = base.model_dump(mode="json")
    made = type(base).model_validate_json(base.model_copy(update={"rates": {"cpu": (0.05, 0.5)}}).model_dump_json())
    assert made.rates["cpu"] == (0.05, 0.5) and tree["rates"] == {}
    with pytest.raises(ValueError, match="from low to high"):
        type(base).model_validate(tree | {"rates": {"cpu": (0.5, 0.05)}}, strict=False)


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


@pytest.mark.parametrize("settings, line", [
    ({"name": "gonn-b55"}, "NAME=gonn-b55: no such base or enhancement; valid: gonn-b5, "),
    ({"arm": "on"}, "ARM=on: gonn-b5 is a base, which has no arms; valid: an enhancement as NAME, or no ARM"),
    ({"base": "gonn-b12"}, "BASE=gonn-b12: NAME names another base, gonn-b5; valid: an enhancement as NAME, "
     "or no BASE"),
    ({"budget": "huge"}, "BUDGET=huge: no such budget"),
    ({"name": "stall_halving", "budget": "gpu"}, "NAME=stall_halving: its arms compute the same; "
     "training.schedule.kind makes no difference here: every step of the run has the same rate with and without; "),
    ({"seed": 1}, "SEED=1: seeds of a search are not those of a comparison; valid: 1000 or more"),
    ({"trials": 3}, "TRIALS=3: too few to search with; valid: 5 to 1000"),
    ({"rates": "0.5,0.1"}, "RATES=0.5,0.1: not a range of learning rates; valid: two numbers such as 0.01,0.5"),
    ({"rates": "nan,1"}, "RATES=nan,1: not a range"),
    ({"rates": "1"}, "RATES=1: not a range"),
    ({"data": "nowhere"}, "DATA=nowhere: not a known data set"),
])  # fmt: skip
def test_bad_settings(settings, line):
    with pytest.raises(SettingError) as error:
        check_search(SearchRequest(**{"name": "gonn-b5", "budget": "smoke", **settings}))
    assert str(error.value).startswith(line)


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
