"""PRECISION: which studies and searches it asks for, and that two precisions are never taken for one."""

from dataclasses import replace

import pytest

from ablations.registry import load_registry
from ablations.request import Request
from ablations.resolve import resolve_study
from ablations.search import Search
from ablations.settings import line_of
from ablations.study import read_study
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from gonn_core.files.json_files import write_json
from orchestration.search.optuna_rates import keep_search
from orchestration.search.planning import SearchRequest, find_target, lay_out_search
from orchestration.study.first_look import first_design
from orchestration.study.looks import earlier_study
from orchestration.study.plan import Plan, make_plan
from orchestration.study.rates import rates_of
from orchestration.tracking.records import search_info, study_info
from reports.results.group import comparison_key, conditions
from reports.screen.interactions import study_command
from reports.workspace import Workspace
from tests.trial.helpers import starter_data


@pytest.fixture
def home(tmp_path, monkeypatch) -> Workspace:
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    return Workspace.here()


def planned(home: Workspace, **settings) -> Plan:
    return make_plan(resolve_study(Request(**settings)), home)


def test_all_arms_are_in_it_and_the_study_is_called_so(home):
    usual, own, other = (
        planned(home, name="parametric_relu", budget="smoke", precision=precision)
        for precision in (None, "fp32", "bf16")
    )
    assert own.study.model_copy(update={"created": usual.study.created}) == usual.study
    assert "PRECISION" not in usual.design.settings
    assert "BUDGET=smoke PRECISION=bf16" in line_of(other.design.settings)
    assert other.study.id.startswith("parametric_relu-gonn-b5-smoke-bf16-starter-")
    assert (other.study.budget, other.study.precision, other.study.budget_label) == ("smoke", "bf16", "smoke-bf16")
    assert [arm.config.training.precision for arm in other.study.arms] == ["bf16"] * 2
    back = {"training.precision": "fp32"}
    assert [with_values(arm.config, back) for arm in other.study.arms] == [arm.config for arm in usual.study.arms]
    assert not {trial.trial for trial in other.study.trials} & {trial.trial for trial in usual.study.trials}
    less = planned(home, name="parametric_relu", budget="smoke", precision="bf16", samples="2560")
    assert less.study.id.startswith("parametric_relu-gonn-b5-smoke-bf16-2.56k-starter-") and less.study.samples == 2560
    assert other.study.samples is None


def test_a_screen_and_a_first_look_are_in_it_too(home):
    asked = Request(name="parametric_relu", precision="bf16", budget="cpu")
    look = first_design(resolve_study(asked))
    assert look is not None and look.budget.label == "cpu-bf16" and look.config.training.precision == "bf16"
    names = "parametric_relu,last_move_input,ladder_input"
    screen = resolve_study(Request(name=names, design="screen", budget="smoke", precision="bf16"))
    assert {arm.config.training.precision for arm in screen.arms} == {"bf16"} and screen.budget.label == "smoke-bf16"


def test_two_precisions_are_not_compared(home):
    fp32, bf16 = (
        planned(home, name="parametric_relu", budget="smoke", precision=precision).study for precision in (None, "bf16")
    )
    assert conditions(fp32) == conditions(fp32) != conditions(bf16)
    keys = [comparison_key(study, study.contrasts[0]) for study in (fp32, bf16)]
    assert keys[0] != keys[1]
    assert "--budget smoke --precision bf16" in study_command(bf16) and "--precision" not in study_command(fp32)
    shown = study_info(bf16)
    assert shown.tags["budget"] == "smoke-bf16" and shown.settings["precision"] == "bf16"
    assert study_info(fp32).settings["precision"] == "fp32" and study_info(fp32).tags["budget"] == "smoke"
    more = planned(home, name="parametric_relu", budget="smoke", precision="bf16", seeds="3").study
    write_json(home.studies / fp32.id / "study.json", fp32.model_dump(mode="json"))
    assert earlier_study(more, home) is None


def test_a_study_of_before_has_the_budgets_own(home, tmp_path):
    study = planned(home, name="parametric_relu", budget="smoke").study
    tree = study.model_dump(mode="json")
    del tree["precision"]
    write_json(tmp_path / "study.json", tree)
    assert read_study(tmp_path / "study.json") == study


def test_a_rate_is_of_the_precision_that_it_was_searched_in(home):
    registry = load_registry()
    request = SearchRequest("gonn-b5", budget="smoke", precision="bf16")
    target = find_target(registry, request)
    prepared = starter_data()
    search = lay_out_search(request, target, prepared, home).search
    assert isinstance(search, Search) and search.id.startswith("lr-gonn-b5-smoke-bf16-starter-")
    assert search.config.training.precision == "bf16" and search.budget_label == "smoke-bf16"
    assert search_info(search, ()).settings["budget"] == "smoke-bf16"
    keep_search(home, search)
    asked = Request(None, base="gonn-b5", budget="smoke", lr=f"found:{search.id}")
    with pytest.raises(SettingError, match="searched for gonn-b5 under budget smoke-bf16; .* under budget smoke$"):
        rates_of(resolve_study(asked), home)
    with pytest.raises(SettingError, match="trials to come"):  # its own, not yet finished
        rates_of(resolve_study(replace(asked, precision="bf16")), home)
    request = SearchRequest("gonn-b5", budget="smoke")
    usual = lay_out_search(request, find_target(registry, request), prepared, home).search
    assert usual.id.startswith("lr-gonn-b5-smoke-starter-") and usual.precision is None
