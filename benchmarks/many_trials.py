"""What `gonn plan`, `gonn status` and `gonn report` take with 1,000 trials: seconds and peak memory of each, in a fresh
process.

    python -m benchmarks.many_trials [--shape wide] [--studies 100] [--seeds 10] [--keep folder]

Two shapes. `studies`: 100 studies of one enhancement each, on the bases and the `cpu` budget that their cards name, 10
seeds, controls
shared: what a year of work leaves behind. `wide`: one study of 9 enhancements and 100 seeds. The trials are made up,
their files are
not: a net of the right shape, a curve of 12 points, two evaluations of 20,000 positions and more, on the bundled games'
store.

`gonn report` of everything is measured three times: `first` with nothing in out/, where every sum is made and every
figure drawn; `again` with nothing new; `changed` after one trial of one study has another curve, so that this study's
figure is drawn again. The baseline is `gonn --help`: Python and the command line alone. CPU seconds tell what the
command does, seconds what else the machine was doing too.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ablations.data.datasets import PreparedData, load_dataset, prepare
from ablations.registry import load_registry
from ablations.request import Request
from ablations.resolve import resolve_study
from ablations.study import Study, read_study
from gonn_core.config import canonical
from gonn_core.errors import UserError
from gonn_core.evaluation.metrics import METRIC_SET, Reading, Scores, evaluation_id
from gonn_core.evaluation.stored import FORMAT, pack_arrays
from gonn_core.features.sets import plane_names
from gonn_core.nets import build_net
from gonn_core.records.views import subset
from gonn_core.trial import weights
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job
from gonn_core.trial.lease import Lease
from orchestration.study.folder import keep_study
from orchestration.study.plan import Plan, plan_of
from reports.workspace import Workspace

TARGETS = (
    "targets: each command under 5 s and 500 MB, but for the first report, which sums up every position and draws every"
    " figure"
)
POSITIONS = 20_000
WIDE = (
    "parametric_relu",
    "last_move_input",
    "liberty_planes",
    "ladder_input",
    "chain_pooling",
    "dilated_convolutions",
    "global_pooling_head",
    "ko_plane",
    "stem_kernel_5x5",
)

CHILD = """
import os, sys, time
began, child = time.perf_counter(), os.fork()
if not child:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process between: a child's peak memory starts at that of the process that it was forked from."""


def plans(shape: str, studies: int, seeds: int, prepared: PreparedData, workspace: Workspace) -> Iterator[Plan]:
    """The studies of a shape, as `gonn ablate` would lay them out."""
    if shape == "wide":
        yield plan_of(resolve_study(Request(",".join(WIDE), seeds="100")), prepared, workspace)
        return
    for card in load_registry().cards:
        try:
            plan = plan_of(resolve_study(Request(card, seeds=str(seeds))), prepared, workspace)
        except UserError as error:
            if "DATA=" not in str(error) and "data set" not in str(error):
                raise
            continue  # needs games that the bundled ones are not
        yield plan
        studies -= 1
        if not studies:
            return


def fill(plan: Plan, workspace: Workspace) -> None:
    """Write down the study and give all its trials results."""
    study = keep_study(workspace, plan.study)
    nets: dict[str, dict] = {}
    for job, trial in zip(plan.jobs, study.trials, strict=True):
        if TrialDirectory(workspace.runs / job.id).result() is None:
            config = job.config
            if trial.arm not in nets:
                nets[trial.arm] = build_net(config.net, plane_names(config.features), 1).state_dict()
            finish(job, study, trial.arm, plan.prepared, nets[trial.arm])


def finish(job: Job, study: Study, arm: str, prepared: PreparedData, tensors: dict) -> None:
    """One made-up trial that is done."""
    config, samples, seed = job.config, job.config.training.samples, job.config.training.init_seed
    generator = np.random.default_rng([seed, int(job.id, 16) % 2**32])
    level = 2.5 + 0.01 * ([each.id for each in study.arms].index(arm) % 5) + generator.normal(0, 0.006)
    directory, digest = TrialDirectory(Path(job.run.runs) / job.id), f"{int(job.id, 16):016x}"
    directory.create()
    session = {
        "started": "2026-01-02T03:04:05+00:00",
        "from_samples": 0,
        "device": "cpu",
        "threads": 1,
        "loader_threads": 1,
        "memory_format": "channels_last",
    }
    session |= {
        "commit": "0123456789abcdef",
        "dirty": False,
        "versions": {"python": "3.11", "torch": "2.13.0", "numpy": "2.4", "numba": "0.68"},
    }
    tree = {
        "id": job.id,
        "canonical": canonical(config),
        "config": config.model_dump(mode="json"),
        "numerics": {},
        "labels": job.labels,
    }
    with Lease.take(directory.path) as lease:
        directory.write_json(
            "config.json", {**tree, "run": job.run.model_dump(mode="json"), "sessions": [session]}, lease
        )
        times = {
            "learning_rate": 0.02,
            "samples_per_s": 460.0,
            "wall_seconds": 250.0,
            "cpu_seconds": 96.0,
            "training_seconds": 217.0,
        }
        lines = []
        for point in range(1, 13):
            nats = level + 2.0 * (1 - point / 12) ** 2
            lines.append(
                {
                    "samples": samples * point // 12,
                    "train_nats": nats + 0.1,
                    "nats": nats,
                    "top1": 0.36,
                    "top4": 0.66,
                    "looks": point,
                    **times,
                }
            )
        directory.write_metrics(lines, lease)
        directory.write(
            f"snapshots/{samples}.safetensors",
            weights.pack(job.id, tensors, {"samples": samples, "weights": digest}),
            lease,
        )
        for request in job.run.evaluations:
            view = subset(prepared.views[request.split], request.minimum_positions, request.subset_seed)
            write_evaluation(
                directory,
                lease,
                request,
                view,
                digest,
                samples,
                level,
                generator,
                Reading(**config.evaluation.model_dump()),
            )
        result = {
            "id": job.id,
            "samples": samples,
            "weights": digest,
            "parameters": 81548,
            "train_nats": lines[-1]["train_nats"],
            "device": "cpu",
            **times,
        }
        directory.write_json("result.json", {**result, "nats": level, "top1": 0.36, "top4": 0.66, "looks": 12}, lease)


def write_evaluation(
    directory, lease, request, view, digest: str, samples: int, level: float, generator, reading: Reading
) -> None:
    """An evaluation on the positions of `view`, as large as a real one."""
    games, n = view.games(), view.n
    difficulty = np.random.default_rng(5).normal(0, 0.2, int(games.max()) + 1)[games]
    nats = np.maximum(level + difficulty + generator.gamma(2.0, 0.8, n) - 1.6, 0.01).astype(np.float32)
    scores = Scores(
        nats,
        np.minimum(np.floor(np.exp(nats) / 6), 360).astype(np.uint16),
        nats * np.float32(0.9),
        (1 - np.exp(-nats)).astype(np.float32),
    )
    identity = evaluation_id(digest, view.digest, request.history, reading)
    asked = {**request.model_dump(mode="json"), "samples": samples, "symmetry_averaging": reading.symmetry_averaging}
    about = {
        "format": FORMAT,
        "id": identity,
        "metric_set": METRIC_SET,
        "weights": digest,
        "samples": samples,
        "split": request.split,
        "view": request.view,
    }
    about |= {
        "subset": view.digest,
        "history": request.history,
        **reading._asdict(),
        "positions": n,
        "games": len(np.unique(games)),
        **scores.means(),
    }
    ply = np.arange(n) - np.searchsorted(games, games)  # rows of a game are contiguous
    arrays = pack_arrays(scores._replace(ply=ply.astype(np.int16), ko=ply % 30 == 7), view.rows, games)
    directory.write(f"eval/{identity}.npz", arrays, lease)
    directory.write_json(f"eval/{identity}.json", {**about, "seconds": 24.0, "requests": [asked]}, lease)


def change(workspace: Workspace) -> None:
    """Other nats in the curve of the last trial of the first study, which no other study has."""
    study = read_study(min(workspace.studies.glob("*/study.json")))
    path = workspace.runs / study.trials[-1].trial / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line | {"nats": line["nats"] - 0.001}) + "\n" for line in lines))


def measure(home: Path, *arguments: str) -> tuple[float, float, float]:
    """(seconds, CPU seconds, MB) of one command in a fresh process."""
    command = [sys.executable, "-c", CHILD, sys.executable, "-m", "orchestration.cli", *arguments]
    done = subprocess.run(
        command,
        env={**os.environ, "GONN_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"gonn {' '.join(arguments)} failed:\n{done.stderr}")
    seconds, busy, size = done.stderr.splitlines()[-1].split()
    return float(seconds), float(busy), int(size) / (1e6 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Make the trials, measure, print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=("studies", "wide"), default="studies")
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="workspace that is kept, and used again when it is there")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace((wanted.keep or Path(folder)).resolve())
        os.environ["GONN_HOME"] = str(workspace.root)
        prepared = prepare(load_dataset("starter"), workspace.stores)
        if not (workspace.root / "made").exists():
            for plan in plans(wanted.shape, wanted.studies, wanted.seeds, prepared, workspace):
                fill(plan, workspace)
            (workspace.root / "made").touch()
        studies = len(list(workspace.studies.glob("*/study.json")))
        print(f"{len(list(workspace.runs.iterdir()))} trials in {studies} studies", flush=True)
        planned = (
            ("plan", ",".join(WIDE), "--seeds", "100")
            if wanted.shape == "wide"
            else ("plan", "parametric_relu", "--seeds", str(wanted.seeds))
        )
        print(f"{'command':10}{'when':>10}{'seconds':>10}{'CPU s':>8}{'MB':>8}")
        shutil.rmtree(workspace.out, ignore_errors=True)
        report = ("report", ("report",))
        for when, (name, arguments) in (
            ("", ("help", ("--help",))),
            ("", ("status", ("status",))),
            ("first", report),
            ("again", report),
            ("changed", report),
            ("", ("plan", planned)),
        ):
            if when == "changed":
                change(workspace)
            seconds, busy, size = measure(workspace.root, *arguments)
            print(f"{name:10}{when:>10}{seconds:10.1f}{busy:8.1f}{size:8.0f}", flush=True)
    print(TARGETS)


if __name__ == "__main__":
    main()
