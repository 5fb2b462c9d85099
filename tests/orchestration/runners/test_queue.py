"""Jobs of a runner, and trials that share GPUs: simulated ones that take memory, and runners whose trials run out of
it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonn_core.errors import UserError
from orchestration.cli import command as cli
from orchestration.experiment import pipeline
from orchestration.runners import gpus
from orchestration.runners.base import JobQueue, TrialOutcome
from orchestration.runners.gpus import Gpus
from orchestration.runners.local import LocalRunner
from tests.orchestration.fakes import fake_job

RUN_FAKE = "tests.orchestration.fakes:run_fake"


@given(
    st.integers(1, 3),
    st.integers(1, 6),
    st.lists(st.integers(1, 30), min_size=1, max_size=15),
    st.integers(4, 20),
    st.randoms(use_true_random=False),
)
def test_every_trial_that_fits_a_gpu_ends_and_no_other(gpus, per_gpu, needs, memory, random):
    """Trials on the GPU with the fewest; a trial meets a lack of memory when it ends."""
    jobs = [fake_job("/nowhere", seed) for seed in range(len(needs))]
    need = {job.id: memory_needed for job, memory_needed in zip(jobs, needs, strict=True)}
    queue = JobQueue(iter(jobs), lambda event: None, gpus, per_gpu)
    running = {}
    while not queue.is_over:
        while (job := queue.take()) is not None:
            load = {gpu: [other for other, place in running.values() if place == gpu] for gpu in range(gpus)}
            running[job.id] = (job, min(load, key=lambda gpu: len(load[gpu])))
        assert len(running) <= gpus * per_gpu
        if not running:
            continue  # it was the last
        job, gpu = running[random.choice(sorted(running))]
        taken = sum(need[other.id] for other, place in running.values() if place == gpu)
        del running[job.id]
        queue.end(job, TrialOutcome(job.id, "failed", "short", out_of_memory=True) if taken > memory else done(job))
    states = {outcome.trial: outcome.state for outcome in queue.outcomes}
    assert list(states) == [job.id for job in jobs]
    assert states == {trial: "done" if need[trial] <= memory else "failed" for trial in need}


def done(job):
    return TrialOutcome(job.id, "done")


def test_a_lack_of_memory_lowers_the_trials_per_gpu_by_one():
    queue = JobQueue([fake_job("/nowhere", seed) for seed in range(8)], lambda event: None, 2, 3)
    first = [queue.take() for _ in range(6)]
    assert queue.take() is None
    for job in first[:2]:
        queue.end(job, TrialOutcome(job.id, "failed", "short", out_of_memory=True))
    assert queue.per_gpu == 2 and queue.take() is None, "both began when there were three"
    queue.end(first[2], done(first[2]))
    again = queue.take()
    queue.end(again, TrialOutcome(again.id, "failed", "short", out_of_memory=True))
    assert again.id == first[0].id and queue.per_gpu == 1 and not queue.outcomes[1:]


@pytest.mark.parametrize(
    ("gpus", "per_gpu", "cores", "threads"), [(1, 1, 8, 8), (1, 3, 8, 2), (2, 1, 8, 4), (4, 1, 2, 1)]
)
def test_the_cores_are_divided_among_the_trials_unless_a_job_names_a_number(gpus, per_gpu, cores, threads):
    job = fake_job("/nowhere", 1)
    asking = fake_job("/nowhere", 2)
    asking = asking.model_copy(update={"run": asking.run.model_copy(update={"loader_threads": 1})})

    def taken(job, *share):
        return JobQueue([job], lambda event: None, *share).take().run.loader_threads

    assert taken(job, gpus, per_gpu, cores) == threads and taken(asking, gpus, per_gpu, cores) == 1
    assert taken(job) is None, "on a CPU the trial decides"


def test_trials_that_run_out_of_memory_are_tried_again_with_fewer_per_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr(gpus, "visible_gpus", lambda: Gpus(("0",), ("NVIDIA H100",)))
    events = []
    jobs = [
        fake_job(tmp_path, seed, behaviour)
        for seed, behaviour in enumerate(["short once", "steady", "short once", "steady", "too large"])
    ]
    jobs = [job.model_copy(update={"run": job.run.model_copy(update={"device": "auto"})}) for job in jobs]
    outcomes = LocalRunner(RUN_FAKE, 4).run(jobs, None, events.append)
    assert [outcome.trial for outcome in outcomes] == [job.id for job in jobs]
    assert [outcome.state for outcome in outcomes] == ["done"] * 4 + ["failed"]
    assert "with a GPU to itself" in outcomes[4].error and outcomes[4].traceback == ""
    again = {event.trial for event in events if event.kind == "retried"}
    assert {jobs[0].id, jobs[2].id} <= again <= {jobs[0].id, jobs[2].id, jobs[4].id}
    assert {event.trial for event in events if event.kind == "failed"} == {jobs[4].id}


@pytest.mark.parametrize("verb", [("ablate", "parametric_relu"), ("scale", "gonn-b5"), ("search", "run", "gonn-b5")])
def test_the_option_reaches_the_runner(tmp_path, monkeypatch, capsys, verb):
    def make_runner(name, address, function, per_gpu):
        raise UserError(f"{per_gpu} per GPU")

    monkeypatch.setattr(pipeline, "make_runner", make_runner)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    assert cli.run([*verb, "--per-gpu", "3", "--budget", "smoke"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "3 per GPU"
