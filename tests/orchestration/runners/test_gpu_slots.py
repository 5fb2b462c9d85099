"""Slots on GPUs: simulated trials that take memory and share what the GPU computes; runners whose trials run out of
memory."""

from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gonn_core.trial.memory import Memory
from orchestration.runners import base, gpu_slots, mps
from orchestration.runners.gpu_slots import CONTEXT_BYTES, GpuSlots
from orchestration.runners.gpus import Gpus
from orchestration.runners.local import LocalRunner
from orchestration.runners.queue import JobQueue, load_of
from orchestration.runners.ray_runner import RayRunner
from tests.orchestration.fakes import fake_job
from tests.trial.events import event

RUN_FAKE = "tests.orchestration.fakes:run_fake"
GIB = 2**30


@dataclass
class Simulated:
    """Trials of these nets on one GPU, a second at a time. `speed[k - 1]`: work per second of all of k trials."""

    memory: int
    peaks: dict[str, int]
    speed: list[float]
    samples: int = 400

    def run(self, nets: list[str], slots: GpuSlots | None = None, asked=None) -> dict[str, str]:
        self.now, self.most, self.outcomes = 0.0, 0, {}
        self.slots = slots or GpuSlots(1, len(self.speed), asked, clock=lambda: self.now)
        waiting, done = [(f"{net}{i}", net) for i, net in enumerate(nets)], {}
        running: dict[str, str] = {}
        while waiting or running:
            assert self.now < 1e5, "it never ends"
            while waiting and self.slots.room() and self.slots.room(waiting[0][1]):
                trial, net = waiting.pop(0)
                running[trial], done[trial] = net, 0.0
                self.slots.begin(trial, net, 1.0)
                self.slots.hear(
                    event("started", trial, 0, self.samples, None, None, free_bytes=self._free(running, but=trial))
                )
            self.most = max(self.most, len(running))
            while self._free(running) < 0:
                trial = list(running)[-1]
                net = running.pop(trial)
                if self.slots.out_of_memory(trial):
                    waiting.insert(0, (trial, net))
                else:
                    self.outcomes[trial] = "failed"
                self.slots.end(trial)
            self.now += 1
            for trial, net in list(running.items()):
                done[trial] += self.speed[len(running) - 1] / len(running)
                self.slots.hear(
                    event(
                        "tick",
                        trial,
                        int(done[trial]),
                        self.samples,
                        None,
                        1.0,
                        memory=Memory(self.peaks[net], self.peaks[net]),
                    )
                )
            for trial in [trial for trial in running if done[trial] >= self.samples]:
                del running[trial]
                self.slots.end(trial)
                self.outcomes[trial] = "done"
        return self.outcomes

    def _free(self, running: dict[str, str], but: str | None = None) -> int:
        """Memory left beside these; of one that has just begun its context is taken already."""
        return self.memory - sum(
            CONTEXT_BYTES + (0 if trial == but else self.peaks[net]) for trial, net in running.items()
        )


def flat_after(knee: int, most: int = 8) -> list[float]:
    """Work per second that grows with the trials up to a knee, and no more after it."""
    return [10.0 * min(k, knee) for k in range(1, most + 1)]


@pytest.mark.parametrize("knee", [1, 2, 3, 5])
def test_slots_grow_while_the_work_per_second_does(knee):
    gpu = Simulated(80 * GIB, {"a": GIB}, flat_after(knee))
    assert set(gpu.run(["a"] * 40).values()) == {"done"}
    assert gpu.slots.level == gpu.slots.ceiling == knee and gpu.most == knee + 1, "one more was tried, and given up"


def test_the_first_trial_has_the_gpu_to_itself_until_its_peak_is_known():
    slots = GpuSlots(1, 8)
    assert slots.room()
    slots.begin("x", "a", 1.0)
    assert not slots.room()
    slots.level = 8
    assert not slots.room(), "nothing is known of its memory"
    slots.hear(event("started", "x", 0, 10, None, None, free_bytes=10 * GIB))
    slots.hear(event("tick", "x", 1, 10, None, 1.0, memory=Memory(3 * GIB, 3 * GIB)))
    assert slots.room() and slots.room("a") and slots.room("never seen")
    slots.begin("y", "a", 1.0)
    assert not slots.room("a"), "9 of 10 GiB hold two of 3.6"


def test_memory_bounds_the_slots():
    gpu = Simulated(16 * GIB, {"a": 4 * GIB}, flat_after(8))
    assert set(gpu.run(["a"] * 12).values()) == {"done"}
    assert gpu.most == 3, "four would take 18.3 GiB"


def test_running_out_of_memory_lowers_the_slots_and_fails_none_that_fits():
    gpu = Simulated(16 * GIB, {"a": 4 * GIB, "huge": 20 * GIB}, flat_after(8))
    outcomes = gpu.run(["a"] * 6 + ["huge"] + ["a"] * 6, asked=6)
    assert outcomes.pop("huge6") == "failed" and set(outcomes.values()) == {"done"} and len(outcomes) == 12
    assert gpu.slots.ceiling == 1, "the huge one had to be seen alone before it could be given up"


@settings(max_examples=150)
@given(
    st.integers(4, 40),
    st.dictionaries(st.sampled_from("abcd"), st.floats(0.1, 30), min_size=1),
    st.lists(st.floats(0.5, 1.9), min_size=1, max_size=7),
    st.data(),
)
@example(10, {"a": 4.0, "b": 8.0}, [1.9] * 7, None)
def test_every_trial_that_fits_is_done_and_no_other(memory, peaks, factors, data):
    speed = [20.0]
    for factor in factors:
        speed.append(speed[-1] * factor)
    nets = data.draw(st.lists(st.sampled_from(sorted(peaks)), max_size=12)) if data else ["a", "a", "b", "a", "b"]
    asked = data.draw(st.sampled_from([None, 1, 3])) if data else None
    gpu = Simulated(memory * GIB, {net: int(peak * GIB) for net, peak in peaks.items()}, speed)
    outcomes = gpu.run(nets, asked=asked and min(asked, len(speed)))
    fits = {
        f"{net}{i}": "done" if peaks[net] * GIB + CONTEXT_BYTES <= memory * GIB else "failed"
        for i, net in enumerate(nets)
    }
    assert {trial: outcomes[trial] for trial in fits} == fits and len(outcomes) == len(nets)
    assert asked or gpu.most <= len(speed)


def test_two_gpus_get_a_trial_each_before_any_is_shared():
    slots = GpuSlots(2, 4)
    for trial in ("x", "y"):
        assert slots.room("a")
        slots.begin(trial, "a", 1.0)
    assert not slots.room("a")
    assert not slots.out_of_memory("x"), "it had a GPU to itself"


def test_the_share_told_to_ray_leaves_room_on_one_gpu_and_spreads_trials_over_several():
    assert GpuSlots(1, 8).share == 1 / 8 and GpuSlots(2, 8).share == 1 and GpuSlots(2, 8, requested=6).share == 1 / 3


def test_the_cores_are_divided_among_the_trials_that_may_run_now():
    slots = GpuSlots(1, 8, cores=8)
    assert slots.loader_threads == 8, "the first has the GPU to itself: it waits for no thread that others might want"
    slots.level = 3
    assert slots.loader_threads == 2
    assert GpuSlots(2, 8, cores=8).loader_threads == 4
    assert GpuSlots(1, 4, requested=4, cores=8).loader_threads == 2
    assert GpuSlots(1, 2, requested=9, cores=8).loader_threads == 4, "there are jobs for two"
    assert GpuSlots(4, 1, cores=2).loader_threads == 1


def test_a_worker_is_told_its_threads_unless_its_job_names_a_number(tmp_path):
    job = fake_job(tmp_path, 1)
    asking = job.model_copy(update={"run": job.run.model_copy(update={"loader_threads": 1})})
    shared = JobQueue(iter([]), lambda event: None, GpuSlots(1, 8, cores=6))
    assert shared.handed_out(job).run == job.run.model_copy(update={"loader_threads": 6})
    assert shared.handed_out(asking) is asking
    assert JobQueue(iter([]), lambda event: None).handed_out(job) is job, "no GPU: decided by the trial itself"
    assert job.run.loader_threads is None


def test_a_load_is_the_same_whatever_the_seed(tmp_path):
    one, other = fake_job(tmp_path, 1), fake_job(tmp_path, 2)
    assert load_of(one) == load_of(other) and load_of(one)[1] > 0


@pytest.fixture
def one_gpu(monkeypatch):
    """A machine on which torch counts one GPU; its trials only play theirs, so nothing is started to share it."""
    monkeypatch.setattr(base, "visible_gpus", lambda: Gpus(("0",), ("NVIDIA H100",)))
    monkeypatch.setenv(mps.SETTING, "no")


def gpu_jobs(folder, behaviours):
    jobs = [fake_job(folder, seed, behaviour) for seed, behaviour in enumerate(behaviours)]
    return [job.model_copy(update={"run": job.run.model_copy(update={"device": "auto"})}) for job in jobs]


@pytest.mark.parametrize(
    "runner", [LocalRunner, pytest.param(RayRunner, marks=[pytest.mark.system, pytest.mark.xdist_group("ray")])]
)
def test_trials_that_run_out_of_memory_are_tried_again_with_fewer_beside_them(tmp_path, one_gpu, runner):
    jobs, events = gpu_jobs(tmp_path, ["short once", "steady", "short once", "steady", "too large"]), []
    outcomes = runner(function=RUN_FAKE).run(jobs, 4, events.append)
    assert [outcome.trial for outcome in outcomes] == [job.id for job in jobs]
    assert [outcome.state for outcome in outcomes] == ["done"] * 4 + ["failed"]
    assert (outcomes[4].error, outcomes[4].traceback) == (
        "out of memory (CUDA out of memory), with a GPU to itself",
        "",
    )
    again = {event.trial: event.message for event in events if event.kind == "retried"}
    assert {jobs[0].id, jobs[2].id} <= again.keys() <= {jobs[0].id, jobs[2].id, jobs[4].id}
    assert all(line.startswith("out of memory (CUDA out of memory); again, with at most ") for line in again.values())
    assert {event.trial for event in events if event.kind == "failed"} == {jobs[4].id}


def test_the_local_runner_takes_more_trials_as_the_work_per_second_rises(tmp_path, one_gpu, monkeypatch):
    monkeypatch.setattr(gpu_slots, "WINDOW_SECONDS", 0.2)
    monkeypatch.setattr("orchestration.runners.base.os.sched_getaffinity", lambda process: range(3), raising=False)
    running, most = set(), []

    def hear(event):
        (running.discard if event.kind in ("finished", "failed") else running.add)(event.trial)
        most.append(len(running))

    outcomes = LocalRunner(RUN_FAKE).run(gpu_jobs(tmp_path, ["steady"] * 6), None, hear)
    assert {outcome.state for outcome in outcomes} == {"done"}
    assert most[:3] == [1, 1, 1] and 2 <= max(most) <= 3
