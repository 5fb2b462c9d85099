"""A search with trials that follow a known curve: its choice, its slots, kills, failures."""

import math
from collections import Counter

import pytest

from ablations.search import Pruning
from gonn_core.errors import Damaged
from orchestration.runners.base import JobQueue
from orchestration.runners.ray_runner import _hear
from orchestration.search.optuna_rates import RateOptimiser, cut_damaged
from orchestration.search.run import FAILURES, SearchRun, is_hopeless
from reports.search.report import find_optimum, search_report
from tests.orchestration.search_fakes import BEST, DIVERGES, FakeRunner, made_search, settings
from tests.trial.events import event


def run(folder, search, runner, on_event=lambda event: None):
    """One command's part; the search's journal afterwards."""
    optimiser = RateOptimiser(folder / "journal.log", search)
    part = SearchRun(search, settings(folder / "runs"), optimiser, on_event)
    try:
        runner.run(part.jobs(lambda tried: None), None, part)
    except KeyboardInterrupt:
        pass
    return RateOptimiser(folder / "journal.log", search).tried(), part


def optimum(tried, search):
    return find_optimum([(each.rate, each.nats) for each in tried if each.state == "done"], search.rates)


def test_the_choice_is_near_the_bottom_of_a_known_curve(tmp_path):
    search = made_search(rates=(0.01, 0.5))
    tried, part = run(tmp_path, search, FakeRunner())
    found = optimum(tried, search)
    assert len(tried) == 20 and not part.failures
    assert tried[0].rate == pytest.approx(search.own_rate)
    assert all(0.01 <= each.rate <= 0.5 for each in tried)
    assert abs(math.log(found.rate / BEST)) < 0.3, "0.3 of a logarithm cost 0.0045 nats here"
    assert found.interval.low <= found.rate <= found.interval.high and not found.at_edge
    assert {"done", "pruned"} == {each.state for each in tried}


def test_hopeless_trials_are_given_up_and_free_their_slot(tmp_path):
    runner = FakeRunner(slots=3)
    tried, _ = run(tmp_path, made_search(rates=(0.001, 0.5)), runner)
    pruned = [each for each in tried if each.state == "pruned"]
    assert pruned and runner.most == 3 and len(runner.ran) == 20
    for each in pruned:
        assert max(each.points) >= 800 and max(each.points) < 1200
        assert abs(math.log(each.rate / BEST)) > 0.5
    assert runner.told < 20 * 12


def test_rates_that_diverge_do_not_stop_a_search(tmp_path):
    search = made_search(rates=(0.05, 5.0))
    tried, part = run(tmp_path, search, FakeRunner())
    states = Counter(each.state for each in tried)
    assert states["diverged"] >= 2 and not part.failures and len(tried) == 20
    assert all((each.rate > DIVERGES) == (each.state == "diverged") for each in tried)
    assert states["diverged"] < 12, "most are asked for where nothing diverges"
    assert abs(math.log(optimum(tried, search).rate / BEST)) < 0.4


def test_a_search_whose_whole_range_diverges_goes_on_below_it(tmp_path):
    search = made_search(rates=(1.1 * DIVERGES, 30 * DIVERGES))
    tried, _ = run(tmp_path, search, FakeRunner(slots=1))
    diverged = [each.rate for each in tried if each.state == "diverged"]
    assert diverged == sorted(diverged, reverse=True) and diverged[-1] > DIVERGES
    assert sum(each.state in ("done", "pruned") for each in tried) >= 12
    report = search_report(search, tried)
    assert report.searched == (min(each.rate for each in tried), 30 * DIVERGES) and not report.optimum.at_edge
    assert abs(math.log(report.rate / BEST)) < 0.4


@pytest.mark.parametrize("points", [7, 130])
def test_after_a_kill_the_same_command_goes_on_and_asks_for_nothing_twice(tmp_path, points):
    search = made_search()
    first, second = FakeRunner(kill_after=points), FakeRunner()
    run(tmp_path, search, first)
    tried, _ = run(tmp_path, search, second)
    assert len(tried) == 20 and "running" not in {each.state for each in tried}
    assert len({each.rate for each in tried}) == 20
    assert [each.number for each in tried] == list(range(20))
    again = [rate for rate in second.ran if rate in first.ran]
    assert len(again) <= 2 and second.ran[: len(again)] == again, "those under way go on first"
    third = FakeRunner()
    assert run(tmp_path, search, third)[0] == tried and not third.ran


def test_what_a_kill_kept_from_being_told_is_read_from_the_trial_directories(tmp_path):
    search = made_search(trials=6)

    def die(event):
        if event.kind == "finished":
            raise KeyboardInterrupt  # the trial is done, its directory says so, the journal does not

    run(tmp_path, search, FakeRunner(slots=1), die)
    runner, heard = FakeRunner(slots=1), []
    tried, _ = run(tmp_path, search, runner, heard.append)
    first = heard[0]
    assert (first.kind, first.trial, first.nats) == ("finished", tried[0].trial, tried[0].points[1200])
    assert tried[0].state == "done" and len(tried[0].points) == 12 and tried[0].rate not in runner.ran


def test_trials_that_fail_for_another_reason_are_made_up_for_until_it_is_clear_that_it_is_no_accident(tmp_path):
    tried, part = run(tmp_path / "one", made_search(trials=6), FakeRunner(breaks=("1",)))
    assert Counter(each.state == "failed" for each in tried) == {False: 6, True: 1}
    assert [error for _, error in part.failures] == ["RuntimeError: the cable is out"]
    tried, part = run(tmp_path / "all", made_search(trials=6), FakeRunner(slots=1, breaks=tuple("0123456789")))
    assert len(tried) == len(part.failures) == FAILURES == len({each.rate for each in tried})
    tried, part = run(tmp_path / "all", made_search(trials=6), FakeRunner(slots=1))
    assert sum(each.state in ("done", "pruned", "diverged") for each in tried) == 6


def test_half_a_line_and_everything_from_a_damaged_line_is_cut(tmp_path):
    search, journal = made_search(trials=5), tmp_path / "journal.log"
    optimiser = RateOptimiser(journal, search)
    rate = optimiser.ask().rate
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"op_code":4,"wor')
    cut_damaged(journal, search)
    assert journal.read_bytes() == whole and len(RateOptimiser(journal, search).tried()) == 1
    optimiser.ask()
    damaged = journal.read_bytes().replace(b"0.064", b"0.065")
    assert damaged != journal.read_bytes()
    journal.write_bytes(damaged)
    with pytest.raises(Damaged):
        RateOptimiser(journal, search)
    cut_damaged(journal, search)
    assert RateOptimiser(journal, search).ask().rate == rate


def test_a_trial_that_is_given_up_ends_at_once_under_ray_too(tmp_path):
    search = made_search(trials=8)
    run(tmp_path, search, FakeRunner(slots=1, kill_after=4 * 12))
    optimiser = RateOptimiser(tmp_path / "journal.log", search)
    part = SearchRun(search, settings(tmp_path / "runs"), optimiser, lambda event: None)
    queue = JobQueue(part.jobs(lambda tried: None), part)
    bad = queue.take()
    jobs = {"tune-1": bad}
    assert not _hear(queue, jobs, "tune-1", [event("point", bad.id, 400, 1200, 9.0, 50.0)]), "too early to tell"
    assert not _hear(queue, jobs, "tune-1", [event("point", bad.id, 800, 1200, 9.0, 50.0)]), "it may come back"
    assert _hear(queue, jobs, "tune-1", [event("point", bad.id, 900, 1200, 9.0, 50.0)])
    assert [(outcome.trial, outcome.state) for outcome in queue.outcomes] == [(bad.id, "paused")]
    assert next(each for each in optimiser.tried() if each.trial == bad.id).state == "pruned"
    other = queue.take()
    assert other.id != bad.id, "its slot goes to the next"


def test_a_leap_of_the_loss_for_a_moment_stops_no_trial():
    finished = [{800: 3.0 + 0.1 * k, 900: 2.8 + 0.1 * k, 1000: 2.6 + 0.1 * k} for k in range(5)]
    rule = Pruning(looks=2)
    assert not is_hopeless({800: 9.0}, 1200, finished, rule), "one look"
    assert not is_hopeless({800: 9.0, 900: 2.9}, 1200, finished, rule), "it came back"
    assert not is_hopeless({700: 9.0, 800: 9.0}, 1200, finished, rule), "too early to tell"
    assert is_hopeless({800: 3.5, 900: 3.3}, 1200, finished, rule) and is_hopeless(
        {800: 2.0, 900: 9.0, 1000: 9.0}, 1200, finished, rule
    )
    assert not is_hopeless({800: 9.0, 900: 9.0}, 1200, finished[:3], rule), "too few to judge by"
    assert not is_hopeless({1100: 9.0, 1200: 9.0}, 1200, finished, rule), "at its end"
    assert is_hopeless({800: 9.0}, 1200, finished, Pruning())


def test_a_trial_is_said_to_end_at_the_number_that_optuna_and_the_report_have(tmp_path):
    """Not at that of its last look along the way, which is at fewer positions."""
    heard = []
    tried, _ = run(tmp_path, made_search(trials=6), FakeRunner(), heard.append)
    said = {each.trial: each.nats for each in heard if each.kind == "finished"}
    assert said == {each.trial: each.nats for each in tried if each.state == "done"} and len(said) >= 3


def test_optuna_reads_the_journal(tmp_path):
    import optuna
    from optuna.storages.journal import JournalFileBackend

    search = made_search(trials=5)
    journal = tmp_path / "journal.log"
    old = optuna.create_study(
        study_name=search.id, storage=optuna.storages.JournalStorage(JournalFileBackend(str(journal)))
    )
    assert RateOptimiser(journal, search).tried() == [] and old.metric_names is None, "reading it names nothing"
    run(tmp_path, search, FakeRunner())
    study = optuna.load_study(study_name=search.id, storage=old._storage)
    assert study.metric_names == ["validation_nats"] and len(study.trials) == 5
    assert study.best_trial.params["learning_rate"] > 0
    for trial in study.trials:
        assert trial.user_attrs["trial"] and set(trial.intermediate_values) <= set(range(100, 1300, 100))
