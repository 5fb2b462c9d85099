"""The example in results/report is made again from the trials packed beside it.

    python -m tests.reports.test_example

makes it anew after a wanted change of the report; look at the difference.

    python -m tests.reports.test_example PACK WORKSPACE STUDY…

first writes PACK.tar.xz: what no other pack holds of the trials of these studies (the beginnings of their ids), of all
matches and all ladders of a workspace.
"""

import io
import json
import lzma
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from ablations.study import Study
from gonn_core.files.seals import checked_json, sealed_json
from orchestration.reporting.reports import write_reports
from orchestration.study.folder import find_study
from reports.workspace import Workspace
from tests.paths import ROOT
from tests.reports.made_studies import plan_study, train
from tests.reports.same_text import same_file

EXAMPLE = ROOT / "results" / "report"
PACKS = "*.tar.xz"
REPLACED = (
    "studies/golois_block+three_output_planes-cazenave-7x128-cpu-kgs-bc9281/",
    "runs/ccd754d8c880f9fa/",
    "runs/ddaa234db7a973c5/",
    "runs/14eb0710a48fe4da/",
)
"""Packed in trials.tar.xz, no longer reported: Golois blocks without the biases that the document's have."""
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 26, "lc": 0, "lp": 2, "pb": 2}]
"""Arrays of four-byte numbers, and rows and games that all evaluations share."""


MOST_WEIGHTS = 1 << 19
"""Bytes of a net whose weights are packed: a full layer is larger by itself, and the page shows nothing of it."""


def pack(workspace: Workspace, studies: Sequence[str], known: Mapping[str, bytes]) -> bytes:
    """What a report reads and no other pack holds: the studies with their trials, all matches and ladders."""
    paths = [path for beginning in studies for path in _of_study(workspace, find_study(workspace, beginning))]
    paths += [
        *sorted(workspace.root.glob("matches/*/match.json")),
        *sorted(workspace.root.glob("matches/*/games.jsonl")),
        *sorted(workspace.root.glob("elo/*/elo.json")),
    ]
    named = {path.relative_to(workspace.root).as_posix(): path for path in paths if path.exists()}
    files = {name: _without_places(path) for name, path in named.items() if name not in known}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return lzma.compress(buffer.getvalue(), filters=_FILTERS)


def members(packs: Iterable[Path]) -> dict[str, bytes]:
    """Name -> content of what packs hold, without what was replaced."""
    found = {}
    for path in packs:
        with tarfile.open(path, "r:xz") as tar:
            found |= {entry.name: tar.extractfile(entry).read() for entry in tar if not entry.name.startswith(REPLACED)}
    return found


def packs() -> list[Path]:
    """The packs beside the example."""
    return sorted(EXAMPLE.glob(PACKS))


def _of_study(workspace: Workspace, study: Study) -> list[Path]:
    """The files of a study and its trials; weights of the bases alone, at their last sample, where they are small."""
    files = [workspace.studies / study.id / name for name in ("study.json", "speed.json", "looks.json")]
    base = {arm.id for arm in study.arms if not arm.values}
    for trial in study.trials:
        runs = workspace.runs / trial.trial
        files += [runs / name for name in ("config.json", "result.json", "metrics.jsonl", "failure.json")]
        files += [*sorted(runs.glob("eval/[!.]*")), *sorted(runs.glob("probes/[!.]*"))]
        weights = runs / "snapshots" / f"{study.arm(trial.arm).config.training.samples}.safetensors"
        if trial.arm in base and weights.exists() and weights.stat().st_size <= MOST_WEIGHTS:
            files.append(weights)
    return files


def _without_places(path: Path) -> bytes:
    """A file's content; in a configuration folders are named as they are called within a workspace."""
    data = path.read_bytes()
    if path.name != "config.json":
        return data
    tree = checked_json(path, data)
    tree["run"] |= {"runs": "runs", "store": f"stores/{Path(tree['run']['store']).name}"}
    return sealed_json(tree)


def rebuild(folder: Path, monkeypatch) -> dict[str, bytes]:
    """Files of the report over everything, from the packs alone; pictures as PNG."""
    for name, data in members(packs()).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    monkeypatch.setenv("GONN_HOME", str(folder))
    write_reports(())
    return {path.name: path.read_bytes() for path in (folder / "out" / "report").iterdir() if path.suffix != ".svg"}


def _made_files() -> list[Path]:
    """What the command above makes of the packs."""
    return [path for path in EXAMPLE.iterdir() if path.name != "README.md" and not path.match(PACKS)]


@pytest.mark.system
def test_the_example_is_rebuilt_from_its_trials(tmp_path, monkeypatch):
    """Text, numbers and pictures, as tests/reports/same_text.py compares them: the same on any processor."""
    made = rebuild(tmp_path, monkeypatch)
    kept = {path.name: path.read_bytes() for path in _made_files()}
    assert set(made) == set(kept)
    assert [name for name in made if not same_file(name, made[name], kept[name])] == []


def test_the_example_stands_on_at_least_30_trials_with_a_cell_for_each():
    """And on games: each trial that is known by its games alone is in a ladder whose matches are packed."""
    manifest = json.loads((EXAMPLE / "manifest.json").read_text())
    trained = {name for name, trial in manifest["trials"].items() if "state" in trial}
    assert len([name for name in trained if manifest["trials"][name]["state"] == "done"]) >= 30
    names = members(packs())
    assert all(f"runs/{trial}/result.json" in names for trial in trained)
    known = [trial for name, trial in manifest["trials"].items() if name not in trained]
    assert known and all(f"elo/{trial['ladder']}/elo.json" in names for trial in known)
    assert all(f"matches/{match}/games.jsonl" in names for trial in known for match in trial["matches"])


def test_a_pack_holds_what_the_others_do_not(tmp_path):
    """Full layers stay out, folders are named as within a workspace."""
    found = {}
    for number, (base, card) in enumerate((("gonn-b5", "ko_plane"), ("clark-medium", "liberty_encoding"))):
        made = plan_study(tmp_path / str(number), card, base=base, budget="cpu", seeds=(1, 2))
        train(made, {}, weights=True)
        for path in made.runs.glob("*/config.json"):
            tree = checked_json(path, path.read_bytes())
            tree["run"] = {"runs": str(made.runs), "store": "/somewhere/stores/abc"}
            path.write_bytes(sealed_json(tree))
        path = tmp_path / f"{number}.tar.xz"
        path.write_bytes(pack(Workspace(made.folder), [made.study.id[:12]], found))
        assert not set(members([path])) & set(found)
        found |= members([path])
    assert len([name for name in found if name.endswith("study.json")]) == 2
    assert len([name for name in found if name.endswith("result.json")]) == 8
    weights = [name for name in found if name.endswith("safetensors")]
    assert len(weights) == 2 and all(len(found[name]) <= MOST_WEIGHTS for name in weights)  # of the first base
    runs = [json.loads(found[name])["run"] for name in found if name.endswith("config.json")]
    assert all(run == {"runs": "runs", "store": "stores/abc"} for run in runs)


if __name__ == "__main__":
    import tempfile

    if sys.argv[1:]:
        target, root, *studies = sys.argv[1:]
        made = pack(
            Workspace(Path(root).resolve()), studies, members(path for path in packs() if path.stem != f"{target}.tar")
        )
        (EXAMPLE / f"{target}.tar.xz").write_bytes(made)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        report = rebuild(Path(folder), patch)
    for path in _made_files():
        path.unlink()
    for name, data in report.items():
        (EXAMPLE / name).write_bytes(data)
