"""Rates that a study adopts: a number, a search's, or one searched for each arm."""

import json

import pytest

from ablations.search import Search, Tried
from gonn_core.errors import SettingError, UserError
from orchestration import search_arms
from orchestration.planning import Request, check, lay_out
from orchestration.runner import Runner
from orchestration.search_folder import alone, keep_search, open_journal, tried_rates
from orchestration.workspace import Workspace
from reports.search_report import SearchFiles, search_report
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
    for number in range(trials):
        tried = journal.ask()
        journal.tell_done(tried.number, 3.0 + 0.1 * abs(tried.rate - 0.1))
    return search


def test_half_a_line_at_the_end_of_a_journal_is_taken_away(home):
    search = searched(home, 2)
    journal = home.root / "searches" / search.id / "journal.log"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"op_code":4,"wor')
    with alone(home, search):
        assert journal.read_bytes() == whole
        open_journal(home, search).ask()
    assert len(tried_rates(home, search)) == 3


def checked(**settings):
    return check(Request("parametric_relu", budget="smoke", **settings))


def test_a_number_or_a_found_rate_takes_the_place_of_the_bases_in_all_arms(home):
    search = searched(home, 5)
    plain, given, found = checked(), checked(lr="0.05"), checked(lr=f"found:{search.id}")
    assert given.base.training.optimiser.learning_rate == 0.05 and given.line.endswith(" LR=0.05 (0.05)")
    rate = found.base.training.optimiser.learning_rate
    assert rate == float(f"{rate:.3g}") and 0.05 < rate < 0.2 and found.rate.source == f"found by {search.id}"
    studies = [lay_out(each, starter_data(), home).study for each in (plain, given, found)]
    assert len({study.id for study in studies}) == 3 and len({trial.trial for study in studies for trial in study.trials}) == 12
    assert all(arm.config.training.optimiser.learning_rate == rate for arm in studies[2].arms)
    assert studies[2].title.endswith(f"; learning rate {rate:g}, found by {search.id}")
    number = lay_out(checked(lr=f"{rate}"), starter_data(), home).study
    assert [trial.trial for trial in number.trials] == [trial.trial for trial in studies[2].trials], "a trial is what it computes"


def refused(**settings) -> str:
    with pytest.raises(SettingError) as error:
        checked(**settings)
    return str(error.value)


def test_what_cannot_be_adopted(home):
    assert refused(lr="fast") == "LR=fast: not a learning rate; valid: a number, found:SEARCH, or search"
    assert refused(lr="-1") == "LR=-1: not a learning rate; valid: above 0, at most 100"
    assert refused(lr="nan").startswith("LR=nan: not a learning rate")
    assert refused(lr="found:lr-x").startswith("LR=lr-x: no such search; valid: none yet")
    assert refused(lr="search").startswith("LR=search: parametric_relu is not known to move the best learning rate")
    search = searched(home, 3)
    assert refused(lr=f"found:{search.id}").startswith(f"LR=found:{search.id}: search {search.id} has 2 trials to come")
    assert refused(lr="found:lr-gonn-b5", base="gonn-b12").startswith("LR=found:lr-gonn-b5: searched for gonn-b5 under budget smoke")
    assert refused(lr="found:lr-gonn-b5", seeds="1,1000").startswith("SEEDS=1000: search lr-gonn-b5-")
    with pytest.raises(SettingError, match="SEEDS=1000: the searches of the arms use this seed; valid: others"):
        check(Request("elu", budget="smoke", seeds="1000,2", lr="search"))
    with pytest.raises(SettingError, match="LR=0.1: momentum_matched_rate changes the learning rate itself"):
        check(Request("momentum_matched_rate", budget="smoke", lr="0.1"))


def test_each_arm_is_searched_with_equal_trials_and_seeds_and_trained_at_its_own_rate(home, monkeypatch):
    begun: list[Search] = []

    def carry_out(workspace, search, settings, prepared, engine: Runner, slots, track) -> SearchFiles:
        begun.append(search)
        best = 0.1 * len(begun)
        tried = [Tried(number, best * rate / 0.1, "done", f"{number:016x}", nats) for number, (rate, nats) in enumerate(LEVELS * 2)]
        return SearchFiles(search_report(search.model_copy(update={"trials": 6}), tried), home.root, ())

    monkeypatch.setattr(search_arms, "carry_out", carry_out)
    request = check(Request("elu", budget="smoke", lr="search"))
    plan = lay_out(request, starter_data(), home)
    rates = search_arms.search_arms(plan, "cpu", home, None, None, False)
    control, treatment = plan.study.arms
    assert rates == {control.id: 0.1, treatment.id: 0.2}
    one, other = begun
    assert (one.trials, one.seed, one.validation) == (other.trials, other.seed, other.validation)
    assert one.id.startswith(f"lr-{plan.study.base}-smoke") and other.id.startswith(f"lr-{treatment.id}-{plan.study.base}-smoke")
    assert one.seed not in plan.study.seeds
    tuned = lay_out(request, starter_data(), home, rates).study
    assert tuned.id != plan.study.id and tuned.title.endswith("; each arm at the learning rate found for it")
    for arm in tuned.arms:
        assert arm.config.training.optimiser.learning_rate == rates[arm.id] == json.loads(arm.values["training.optimiser.learning_rate"])


def test_a_study_waits_for_a_search_that_is_not_finished(home, monkeypatch):
    monkeypatch.setattr(search_arms, "carry_out", lambda workspace, search, *_: SearchFiles(search_report(search, []), home.root, ()))
    plan = lay_out(check(Request("elu", budget="smoke", lr="search")), starter_data(), home)
    with pytest.raises(UserError, match="16 of 16 trials are still to come; the same command goes on"):
        search_arms.search_arms(plan, "cpu", home, None, None, False)
