"""The example in results/report is made again from the trials packed beside it.

    python -m tests.reports.test_example

makes it anew after a wanted change of the report; look at the difference.

    python -m tests.reports.test_example WORKSPACE STUDY…
    python -m tests.reports.test_example --add WORKSPACE STUDY…

packs the trials of these studies (the beginnings of their ids), all matches and all ladders of a workspace before that;
with --add beside what is packed already, which is from other workspaces.
"""

import io
import json
import lzma
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ablations.study import Study
from orchestration.reporting.report import write_reports
from orchestration.study.folder import find_study
from reports.results.frozen_pool import NOISE_FILE
from reports.workspace import Workspace
from tests.paths import ROOT
from tests.reports.made_studies import plan_study, train
from tests.reports.same_text import same_file

EXAMPLE = ROOT / "results" / "report"
PACK = "trials.tar.xz"
OURS = {"README.md", PACK}
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 26, "lc": 0, "lp": 2, "pb": 2}]
"""Arrays of four-byte numbers, and rows and games that all evaluations share."""


MOST_WEIGHTS = 1 << 19
"""Bytes of a net whose weights are packed: a full layer is larger by itself, and the page shows nothing of it."""


def pack(workspace: Workspace, studies: Sequence[str], packed: bytes | None = None) -> bytes:
    """What a report reads: the studies with their trials, all matches and ladders; of an earlier pack all that is not
    in this workspace too."""
    paths = [path for beginning in studies for path in _of_study(workspace, find_study(workspace, beginning))]
    paths += [
        *sorted(workspace.root.glob("matches/*/match.json")),
        *sorted(workspace.root.glob("matches/*/games.jsonl")),
        *sorted(workspace.root.glob("elo/*/elo.json")),
    ]
    files = {} if packed is None else _members(packed)
    for path in paths:
        if path.exists():
            files[path.relative_to(workspace.root).as_posix()] = _without_places(path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return lzma.compress(buffer.getvalue(), filters=_FILTERS)


def _members(packed: bytes) -> dict[str, bytes]:
    """Name -> content of what a pack holds."""
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz") as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers()}


def _of_study(workspace: Workspace, study: Study) -> list[Path]:
    """The files of a study and its trials; weights of the bases alone, at their last sample, where they are small."""
    files = [workspace.studies / study.id / name for name in ("study.json", "speed.json", "looks.json", NOISE_FILE)]
    base = {arm.id for arm in study.arms if not arm.values}
    for trial in study.trials:
        runs = workspace.runs / trial.trial
        files += [runs / name for name in ("config.json", "result.json", "metrics.jsonl", "failure.json")]
        files += [*sorted(runs.glob("eval/*")), *sorted(runs.glob("probes/*"))]
        weights = runs / "snapshots" / f"{study.arm(trial.arm).config.training.samples}.safetensors"
        if trial.arm in base and weights.exists() and weights.stat().st_size <= MOST_WEIGHTS:
            files.append(weights)
    return files


def _without_places(path: Path) -> bytes:
    """A file's content; in a configuration folders are named as they are called within a workspace."""
    data = path.read_bytes()
    if path.name != "config.json":
        return data
    tree = json.loads(data)
    tree["run"] |= {"runs": "runs", "store": f"stores/{Path(tree['run']['store']).name}"}
    return (json.dumps(tree, indent=1) + "\n").encode()


def rebuild(folder: Path, monkeypatch) -> dict[str, bytes]:
    """Files of the report over everything, from the pack alone; pictures as PNG."""
    with tarfile.open(EXAMPLE / PACK, "r:xz") as tar:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
        tar.extractall(folder, **safely)
    monkeypatch.setenv("GONN_HOME", str(folder))
    write_reports(())
    return {path.name: path.read_bytes() for path in (folder / "out" / "report").iterdir() if path.suffix != ".svg"}


@pytest.mark.system
def test_the_example_is_rebuilt_from_its_trials(tmp_path, monkeypatch):
    """Text, numbers and pictures, as tests/reports/same_text.py compares them: the same on any processor."""
    made = rebuild(tmp_path, monkeypatch)
    kept = {path.name: path.read_bytes() for path in EXAMPLE.iterdir() if path.name not in OURS}
    assert set(made) == set(kept)
    assert [name for name in made if not same_file(name, made[name], kept[name])] == []


def test_the_example_stands_on_at_least_30_trials_with_a_cell_for_each():
    """And on games: each trial that is known by its games alone is in a ladder whose matches are packed."""
    manifest = json.loads((EXAMPLE / "manifest.json").read_text())
    trained = {name for name, trial in manifest["trials"].items() if "state" in trial}
    assert len([name for name in trained if manifest["trials"][name]["state"] == "done"]) >= 30
    with tarfile.open(EXAMPLE / PACK, "r:xz") as tar:
        names = tar.getnames()
    assert all(f"runs/{trial}/result.json" in names for trial in trained)
    known = [trial for name, trial in manifest["trials"].items() if name not in trained]
    assert known and all(f"elo/{trial['ladder']}/elo.json" in names for trial in known)
    assert all(f"matches/{match}/games.jsonl" in names for trial in known for match in trial["matches"])


def test_a_pack_grows_by_the_studies_of_another_workspace(tmp_path):
    """What was packed stays as it is; full layers stay out, folders are named as within a workspace."""
    packed = b""
    for number, (base, card) in enumerate((("gonn-b5", "ko_plane"), ("clark-medium", "liberty_encoding"))):
        made = plan_study(tmp_path / str(number), card, base=base, budget="cpu", seeds=(1, 2))
        train(made, {}, weights=True)
        for path in made.runs.glob("*/config.json"):
            tree = json.loads(path.read_text())
            tree["run"] = {"runs": str(made.runs), "store": "/somewhere/stores/abc"}
            path.write_text(json.dumps(tree))
        packed = pack(Workspace(made.folder), [made.study.id[:12]], packed or None)
    found = _members(packed)
    assert len([name for name in found if name.endswith("study.json")]) == 2
    assert len([name for name in found if name.endswith("result.json")]) == 8
    weights = [name for name in found if name.endswith("safetensors")]
    assert len(weights) == 2 and all(len(found[name]) <= MOST_WEIGHTS for name in weights)  # of the first base
    runs = [json.loads(found[name])["run"] for name in found if name.endswith("config.json")]
    assert all(run == {"runs": "runs", "store": "stores/abc"} for run in runs)


if __name__ == "__main__":
    import tempfile

    EXAMPLE.mkdir(parents=True, exist_ok=True)
    if arguments := [each for each in sys.argv[1:] if each != "--add"]:
        earlier = (EXAMPLE / PACK).read_bytes() if "--add" in sys.argv else None
        (EXAMPLE / PACK).write_bytes(pack(Workspace(Path(arguments[0]).resolve()), arguments[1:], earlier))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        report = rebuild(Path(folder), patch)
    for path in EXAMPLE.iterdir():
        if path.name not in OURS:
            path.unlink()
    for name, data in report.items():
        (EXAMPLE / name).write_bytes(data)
