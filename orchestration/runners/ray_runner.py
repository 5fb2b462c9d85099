"""The runner under Ray Tune: jobs and events here, Ray in a process of its own, another one when Ray dies."""

import sys
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.trial.job import Job
from orchestration.runners.base import RUN_TRIAL, JobSource, OnEvent, Outcome, Places, distinct, places
from orchestration.runners.gpu_slots import GpuSlots, shared_gpus
from orchestration.runners.mps import Sharing, sharing
from orchestration.runners.queue import JobQueue
from orchestration.runners.ray_cluster import SETTING
from orchestration.runners.ray_jobs import RayStudy
from orchestration.runners.ray_link import Broken, Call, Down, NotStarted, Over, Plan, RayProcess, Refused, Up
from orchestration.runners.ray_scratch import scratch, sweep

START_SECONDS = (60, 300)
"""Patience with Ray's start, the first time and the second: a busy machine takes its time."""
MOST_DEATHS = 3
"""So often in a row, with no trial ended in between, Ray may die before the command gives up."""


class RayRunner:
    """Runner under Ray Tune: a private cluster on this machine, or the one at `address`, of which this machine must be
    a node."""

    def __init__(self, address: str | None = None, function: str = RUN_TRIAL):
        self._address, self._function = address, function

    def run(self, jobs: JobSource, slots: int | None, on_event: OnEvent) -> list[Outcome]:
        """See `Runner.run`. On a cluster, the folders of jobs must be shared and absolute, and slots None means all its
        resources allow.

        Where a private Ray dies it is started again, and its trials go on from their checkpoints; UserError when that
        does not help, when it does not start, and when a cluster is gone.
        """
        source = distinct(jobs)
        first = next(source, None)
        if first is None:
            return []
        where = places(jobs, slots, first.run.device)
        sweep(Path(first.run.runs))
        gpu_slots = None if self._address else shared_gpus(where, slots)
        study = RayStudy(JobQueue(chain([first], source), on_event, gpu_slots))
        with nullcontext(Sharing()) if self._address else sharing(where) as shared:
            return self._until_over(study, where, slots, first, shared)

    def _until_over(
        self, study: RayStudy, where: Places, slots: int | None, first: Job, shared: Sharing
    ) -> list[Outcome]:
        """Start Ray, again where it dies, until all jobs have ended."""
        runs = Path(first.run.runs)
        deaths, ended, starts = 0, 0, iter(START_SECONDS)
        patience = next(starts)
        while True:
            # Tune's bookkeeping must be where every node sees it.
            with scratch(runs if self._address else None) as folder:
                plan = Plan(
                    self._address,
                    self._function,
                    where,
                    slots,
                    first.run.runs,
                    first.run.store,
                    first.run.device,
                    folder,
                    patience,
                    shared.environment(*where.gpus),
                )
                end = self._serve(study, plan)
            if isinstance(end, Over):
                return study.ended()
            if isinstance(end, NotStarted):
                patience = next(starts, 0)
                if not patience:
                    raise UserError(f"Ray did not start, twice ({end.why}); --runner local trains without Ray")
                continue
            if self._address:
                raise UserError(
                    f"{SETTING}={self._address}: the cluster is gone ({end.why}); once it is there again, "
                    "the same command goes on from here"
                )
            deaths, ended = (deaths if len(study.ended()) == ended else 0) + 1, len(study.ended())
            if deaths == MOST_DEATHS:
                raise UserError(
                    f"Ray ended {MOST_DEATHS} times in a row ({end.why}); the same command goes on from here, "
                    "--runner local without Ray"
                )
            study.start_again(f"Ray ended ({end.why}); it is started again")

    def _serve(self, study: RayStudy, plan: Plan) -> Over | Down | NotStarted:
        """Have a process of Ray's run the jobs, as far as it comes."""
        from orchestration.runners.ray_tune import serve

        process, is_up = RayProcess(serve, plan), False
        try:
            while True:
                match process.listen():
                    case Call(method, arguments):
                        process.answer(getattr(study, method)(*arguments))
                    case Up() as up:
                        is_up = True
                        if plan.address:
                            study.queue.slots = _cluster_slots(up, plan)
                    case Refused(line):
                        raise UserError(line)
                    case Broken(line, traceback):
                        print(traceback, file=sys.stderr)
                        raise RuntimeError(f"under Ray: {line}")
                    case Down(why) if not is_up and not plan.address:
                        return NotStarted(why)
                    case Over() | Down() | NotStarted() as end:
                        return end
        finally:
            process.end()


def _cluster_slots(up: Up, plan: Plan) -> GpuSlots | None:
    """What shares the GPUs of the cluster, None where there are none or they are not wanted."""
    gpus = up.gpus if plan.device != "cpu" else 0
    return GpuSlots(gpus, max(1, up.cpus // gpus), plan.slots, cores=up.cpus) if gpus else None
