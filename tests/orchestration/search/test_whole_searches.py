"""A search with real trials of a tiny net in worker processes: killed, gone on with, and the same command again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ablations.search import Pruning, Search
from ablations.study import seeded
from gonn_core.trial.directory import TrialDirectory
from orchestration.runners.local import LocalRunner
from orchestration.search.optuna_rates import RateOptimiser
from orchestration.search.run import SearchRun
from tests.orchestration.search_fakes import made_search
from tests.paths import ROOT
from tests.trial.helpers import tiny_config, tiny_job
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system

PROGRAM = """
import json, sys
from pathlib import Path
from ablations.search import Search
from gonn_core.config import parse_model
from gonn_core.trial.job import RunSettings
from orchestration.runners.local import LocalRunner
from orchestration.search.run import SearchRun
from orchestration.search.optuna_rates import RateOptimiser
if __name__ == "__main__":
    tree = json.loads(Path(sys.argv[1]).read_text())
    search = parse_model(Search, tree["search"], "search")
    settings = parse_model(RunSettings, tree["settings"], "settings")
    optimiser = RateOptimiser(Path(sys.argv[1]).with_name("journal.log"), search)
    part = SearchRun(search, settings, optimiser, lambda event: None)
    LocalRunner().run(part.jobs(lambda tried: None), 2, part)
"""


def made(runs: Path) -> tuple[Search, object]:
    """A search of 7 trials up to rates at which even a tiny net diverges, and how its trials run."""
    job = tiny_job(runs)
    (validation,) = job.run.evaluations
    search = made_search(
        7,
        rates=(0.003, 100.0),
        config=seeded(tiny_config(), 1000),
        validation=validation,
        pruning=Pruning(others=2),
    )
    return search, job.run


def test_real_trials_are_searched_through_a_kill(tmp_path):
    search, settings = made(tmp_path / "runs")
    (tmp_path / "search.json").write_text(
        json.dumps({"search": search.model_dump(mode="json"), "settings": settings.model_dump(mode="json")})
    )
    command = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "search.json")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    runs = tmp_path / "runs"
    wait_until(
        lambda: list(runs.glob("*/result.json")) or command.poll() is not None,
        progress=lambda: [path.stat().st_mtime_ns for path in runs.glob("*/metrics.jsonl")],
    )
    command.send_signal(signal.SIGKILL)
    command.wait(PATIENCE)
    optimiser = RateOptimiser(tmp_path / "journal.log", search)
    before = optimiser.tried()
    heard = []
    part = SearchRun(search, settings, optimiser, heard.append)
    LocalRunner().run(part.jobs(lambda tried: None), 2, part)
    tried = optimiser.tried()
    states = Counter(each.state for each in tried)
    assert len(tried) == 7 and states["running"] == states["failed"] == 0 and states["done"] >= 3
    assert [each.rate for each in tried[: len(before)]] == [each.rate for each in before]
    for each in tried:
        directory = TrialDirectory(tmp_path / "runs" / each.trial)
        assert {"done": "done", "pruned": "paused", "diverged": "failed"}[each.state] == directory.state()
        curve = {line["samples"]: line["nats"] for line in directory.metrics()}
        assert each.points == {samples: curve[samples] for samples in each.points} and (
            each.state != "done" or each.points == curve
        )
    heard.clear()
    part = SearchRun(search, settings, optimiser, heard.append)
    LocalRunner().run(part.jobs(lambda tried: None), 2, part)
    assert not heard and optimiser.tried() == tried
