"""Rates that a study adopts: a number, a search's, or one searched for each arm."""

import dataclasses
import shutil

import pytest

from ablations import resolve
from ablations.registry import FOLDER, load_registry
from ablations.request import Request
from ablations.search import Search, Tried
from gonn_core.errors import SettingError, UserError
from orchestration.cli import command as cli
from orchestration.experiment.pipeline import Execution, Result
from orchestration.runners.local import LocalRunner
from orchestration.search.experiment import ReportedSearch, SearchExperiment
from orchestration.search.optuna_rates import keep_search, open_journal
from orchestration.search.planning import SearchRequest, check_search, lay_out_search
from orchestration.study import rates as arm_rates
from orchestration.study.plan import Plan, at_found_rates, plan_of
from orchestration.study.rates import AdoptedRate, rates_of
from reports.search.page import SearchFiles
from reports.search.report import search_report
from reports.workspace import Workspace
from tests.orchestration.search_fakes import made_search
from tests.trial.helpers import starter_data

LEVELS = ((0.05, 3.03), (0.1, 3.0), (0.2, 3.03))


@pytest.fixture
def home(tmp_path, monkeypatch) -> Workspace:
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    return Workspace.here()


def searched(home: Workspace, trials: int) -> Search:
    """A search of 5 trials of which `trials` are done."""
    search = keep_search(home, made_search(trials=5))
    journal = open_journal(home, search)
    for _ in range(trials):
        tried = journal.ask()
        journal.tell(tried.number, "done", 3.0 + 0.1 * abs(tried.rate - 0.1))
    return search


def planned(home: Workspace, name: str = "parametric_relu", budget: str = "smoke", **settings) -> Plan:
    return plan_of(resolve.resolve_study(Request(name, budget=budget, **settings)), starter_data(), home)


def test_a_number_or_a_found_rate_takes_the_place_of_the_bases_in_all_arms(home):
    search = searched(home, 5)
    plans = plain, given, found = [planned(home, lr=lr) for lr in (None, "0.05", f"found:{search.id}")]
    assert given.rates.of_all == AdoptedRate(0.05) and plain.rates.of_all is None
    assert given.study.arms[0].config.training.optimiser.learning_rate == 0.05
    rate = found.study.arms[0].config.training.optimiser.learning_rate
    assert rate == float(f"{rate:.3g}") and 0.05 < rate < 0.2 and found.rates.of_all == AdoptedRate(rate, search.id)
    studies = [plan.study for plan in plans]
    assert (
        len({study.id for study in studies}) == 3
        and len({trial.trial for study in studies for trial in study.trials}) == 12
    )
    assert all(
        arm.config.training.optimiser.learning_rate == rate and arm.rate_found_by == search.id
        for arm in studies[2].arms
    )
    assert {arm.rate_found_by for study in studies[:2] for arm in study.arms} == {None}
    assert studies[2].title.endswith(f"; learning rate {rate:g}, found by {search.id}")
    assert [study.lr for study in studies] == [None, "0.05", f"found:{search.id}"]
    number = planned(home, lr=f"{rate}").study
    assert [trial.trial for trial in number.trials] == [trial.trial for trial in studies[2].trials], (
        "a trial is what it computes"
    )


def refused(home: Workspace, name: str = "parametric_relu", **settings) -> str:
    with pytest.raises(SettingError) as error:
        rates_of(resolve.resolve_study(Request(name, budget="smoke", **settings)), home)
    return str(error.value)


def test_what_cannot_be_adopted(home):
    assert refused(home, lr="fast") == "LR=fast: not a learning rate; valid: a number, found:SEARCH, or search"
    assert refused(home, lr="-1") == "LR=-1: not a learning rate; valid: above 0, at most 100"
    assert refused(home, lr="nan").startswith("LR=nan: not a learning rate")
    assert refused(home, lr="found:lr-x").startswith("LR=lr-x: no such search; valid: none yet")
    assert refused(home, lr="search").startswith(
        "LR=search: parametric_relu is not known to move the best learning rate"
    )
    search = searched(home, 3)
    assert refused(home, lr=f"found:{search.id}").startswith(
        f"LR=found:{search.id}: search {search.id} has 2 trials to come"
    )
    assert refused(home, lr="found:lr-gonn-b5", base="gonn-b12").startswith(
        "LR=found:lr-gonn-b5: searched for gonn-b5 under budget smoke"
    )
    assert refused(home, lr="found:lr-gonn-b5", seeds="1,1000").startswith("SEEDS=1000: search lr-gonn-b5-")
    assert refused(home, "elu", seeds="1000,2", lr="search").startswith("SEEDS=1000: the searches of the arms use")
    assert refused(home, "momentum_matched_rate", lr="0.1").startswith("LR=0.1: momentum_matched_rate changes the")


def test_each_arm_is_searched_with_equal_trials_and_seeds_and_trained_at_its_own_rate(home, monkeypatch):
    begun: list[Search] = []

    def carry_out(experiment: SearchExperiment, how: Execution, show: bool) -> Result:
        search = experiment.search
        begun.append(search)
        best = 0.1 * len(begun)
        tried = [
            Tried(number, best * rate / 0.1, "done", f"{number:016x}", nats)
            for number, (rate, nats) in enumerate(LEVELS * 2)
        ]
        report = search_report(search.model_copy(update={"trials": 6}), tried)
        return Result(ReportedSearch(SearchFiles(report, home.root, ())), [])

    monkeypatch.setattr(arm_rates, "carry_out", carry_out)
    plan = planned(home, "elu", lr="search")
    rates = arm_rates.search_arms(plan.design, plan.study, plan.prepared, Execution(home, LocalRunner()))
    control, treatment = plan.study.arms
    one, other = begun
    assert rates == {control.id: AdoptedRate(0.1, one.id), treatment.id: AdoptedRate(0.2, other.id)}
    assert (one.trials, one.seed, one.validation) == (other.trials, other.seed, other.validation)
    assert one.seed not in plan.study.seeds
    tuned = at_found_rates(plan, rates, home).study
    assert tuned.id != plan.study.id and tuned.title.endswith("; each arm at the learning rate found for it")
    for arm in tuned.arms:
        assert arm.config.training.optimiser.learning_rate == rates[arm.id].rate
        assert arm.rate_found_by == rates[arm.id].search


def test_a_study_waits_for_a_search_that_is_not_finished(home, monkeypatch):
    def carry_out(experiment: SearchExperiment, how: Execution, show: bool) -> Result:
        return Result(ReportedSearch(SearchFiles(search_report(experiment.search, []), home.root, ())), [])

    monkeypatch.setattr(arm_rates, "carry_out", carry_out)
    plan = planned(home, "elu", lr="search")
    with pytest.raises(UserError, match="16 of 16 trials are still to come; the same command resumes it"):
        arm_rates.search_arms(plan.design, plan.study, plan.prepared, Execution(home, LocalRunner()))


@pytest.fixture
def declare(monkeypatch):
    """Puts learning rates into the declarations of gonn-b5 and of cards, as their YAML would."""
    registry = load_registry()

    def put(base=(), **cards):
        changed = {name: registry.cards[name].model_copy(update={"lr": lr}) for name, lr in cards.items()}
        bases = {**registry.bases, "gonn-b5": registry.bases["gonn-b5"].model_copy(update={"lr": dict(base)})}
        made = dataclasses.replace(registry, cards={**registry.cards, **changed}, bases=bases)
        monkeypatch.setattr(resolve, "load_registry", lambda: made)

    return put


def test_a_base_adopts_a_found_rate_by_its_searches_name(home, declare):
    search = searched(home, 5)
    by_option = planned(home, lr=f"found:{search.id}").study
    declare(base={"smoke": f"found:{search.id}"})
    plan = planned(home)
    study = plan.study
    rate = study.arms[0].config.training.optimiser.learning_rate
    assert (study.id, study.title, study.arms) == (by_option.id, by_option.title, by_option.arms)
    assert {arm.rate_found_by for arm in study.arms} == {search.id}
    assert plan.rates.stated(None) == f"({rate:g}, found by {search.id})"
    assert planned(home, lr="0.05").study.arms[1].config.training.optimiser.learning_rate == 0.05, "LR comes first"
    assert planned(home, budget="cpu").rates.of_all is None, "of another budget nothing was said"


def test_a_card_adopts_a_rate_for_the_arm_that_is_not_the_base(home, declare):
    search = searched(home, 5)
    declare(parametric_relu={"gonn-b5.smoke": f"found:{search.id}"}, global_pooling_head={"gonn-b5.smoke": 0.15})
    study = planned(home, "parametric_relu,global_pooling_head,ladder_input").study
    rates = {arm.id: arm.config.training.optimiser.learning_rate for arm in study.arms}
    assert rates["control"] == rates["without-ladder_input"] == 0.2 and rates["without-global_pooling_head"] == 0.15
    assert 0.05 < rates["without-parametric_relu"] < 0.2
    assert {arm.id: arm.rate_found_by for arm in study.arms if arm.rate_found_by} == {
        "without-parametric_relu": search.id
    }
    assert (
        f"; arm of parametric_relu at {rates['without-parametric_relu']:g}, found by {search.id}"
        "; arm of global_pooling_head at 0.15, given" in study.title
    )
    assert refused(home, design="leave-one-out").startswith(
        "DESIGN=leave-one-out: parametric_relu has a learning rate for its own arm "
        "(cards/gonn/parametric_relu.yaml.lr.gonn-b5.smoke)"
    )


def test_a_declared_rate_that_cannot_be_adopted(home, declare):
    declare(base={"smoke": "found:lr-x"})
    assert (
        refused(home)
        == "bases/gonn-b5.yaml.lr.smoke=lr-x: no such search; valid: none yet: make lr-search NAME=… makes one"
    )
    assert cli.run(["plan", "parametric_relu", "--budget", "smoke"]) == 2
    searched(home, 3)
    declare(parametric_relu={"gonn-b5.smoke": "found:lr-gonn-b5"})
    assert refused(home).startswith(
        "cards/gonn/parametric_relu.yaml.lr.gonn-b5.smoke=found:lr-gonn-b5: search lr-gonn-b5-"
    )


@pytest.mark.parametrize("folder, name, line, where", [
    ("bases", "gonn-b5", "lr: {cpus: 0.1}", "bases/gonn-b5.yaml.lr=cpus: no such budget"),
    ("bases", "gonn-b5", "lr: {cpu: search}", "lr.cpu"),
    ("cards/go_nn", "momentum_matched_rate", "lr: {go-nn.cpu: 0.1}",
     "cards/go_nn/momentum_matched_rate.yaml.lr=go-nn.cpu: "),
])  # fmt: skip
def test_rates_in_yaml_are_checked_when_they_are_read(tmp_path, folder, name, line, where):
    shutil.copytree(FOLDER, tmp_path / "ablations", ignore=shutil.ignore_patterns("*.py", "__pycache__", "starter"))
    path = tmp_path / "ablations" / folder / f"{name}.yaml"
    path.write_text(f"{line}\n{path.read_text()}")
    registry = load_registry(tmp_path / "ablations")
    with pytest.raises(UserError) as error:
        registry.base(name) if folder == "bases" else registry.card(name)
    assert where in str(error.value)


def test_a_plan_tells_of_each_arms_search_how_far_it_is_and_trains_nothing(home):
    plan = planned(home, "elu", lr="search")
    searched = list(arm_rates.arm_searches(plan.design, plan.study, plan.prepared, home).values())
    requests = [SearchRequest("elu", arm, budget="smoke") for arm in ("on", "off")]
    by_itself = [lay_out_search(request, check_search(request)[0], starter_data(), home) for request in requests]
    assert [search.id for search in searched] == [search.id for search in by_itself], (
        "a search of an arm by itself is the same"
    )
    for tells, each in zip(
        (16, 4), arm_rates.arm_searches(plan.design, plan.study, plan.prepared, home).values(), strict=True
    ):
        journal = open_journal(home, keep_search(home, each.search))
        for _ in range(tells):
            tried = journal.ask()
            journal.tell(tried.number, "done", 3.0 + abs(tried.rate - 0.02))
    (control, found), (other, none) = arm_rates.rates_so_far(plan.design, plan.study, plan.prepared, home).values()
    assert found == AdoptedRate(control.rate, control.search.id) and 0.01 < found.rate < 0.04 and not control.unfinished
    assert none is None and other.unfinished == 12 and not home.runs.exists()
