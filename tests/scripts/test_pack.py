"""Packs of trials: what reports read, each file in one pack, folders named as within a workspace."""

import io
import tarfile

import numpy as np
import pytest

from gonn_core.evaluation.stored import load_evaluations
from gonn_core.files.seals import checked_json, sealed_json
from orchestration.study.folder import all_studies
from reports.results.study_results import read_results
from reports.workspace import Workspace
from scripts.pack import members, pack, unpack
from tests.reports.made_studies import plan_study, train


@pytest.fixture
def made(tmp_path):
    made = plan_study(tmp_path / "made", "ko_plane", seeds=(1, 2))
    train(made, {}, weights=True)
    for path in made.runs.glob("*/config.json"):
        tree = checked_json(path, path.read_bytes())
        tree["run"] = {"runs": str(made.runs), "store": "/somewhere/stores/abc"}
        path.write_bytes(sealed_json(tree))
    return made


def test_an_unpacked_workspace_has_the_results_of_the_one_packed(made, tmp_path):
    workspace, first = Workspace(made.folder), made.study.trials[0].trial
    path = tmp_path / "one.tar.xz"
    path.write_bytes(pack(workspace, [made.study], (), [first]))
    unpack([path], tmp_path / "again")
    again = Workspace(tmp_path / "again")
    assert all_studies(again) == [made.study]
    results, unpacked = (read_results(made.study, each.runs) for each in (workspace, again))
    for arm in made.study.arms:
        one, other = (each.arm_result(arm.id, 0, "nats") for each in (results, unpacked))
        assert (
            one.seeds == other.seeds and np.allclose(one.sums, other.sums, 6e-8) and (one.counts == other.counts).all()
        )
    assert unpacked.finished == len(made.study.trials)
    assert all(each.compact for trial in again.runs.iterdir() for each in load_evaluations(trial))
    assert [each.parent.parent.name for each in again.runs.rglob("*.safetensors")] == [first]
    for path in again.runs.glob("*/config.json"):
        assert checked_json(path, path.read_bytes())["run"] == {"runs": "runs", "store": "stores/abc"}


def test_a_pack_holds_what_the_others_do_not(made, tmp_path):
    workspace = Workspace(made.folder)
    first, second = tmp_path / "1.tar.xz", tmp_path / "2.tar.xz"
    first.write_bytes(pack(workspace, [made.study], ()))
    known = members([first]).keys()
    second.write_bytes(pack(workspace, [made.study], known - {f"studies/{made.study.id}/study.json"}))
    assert list(members([second])) == [f"studies/{made.study.id}/study.json"]


def test_nothing_is_unpacked_outside_the_workspace(tmp_path):
    with tarfile.open(tmp_path / "bad.tar.xz", "w:xz") as tar:
        entry = tarfile.TarInfo("../outside")
        entry.size = 1
        tar.addfile(entry, io.BytesIO(b"x"))
    with pytest.raises(ValueError, match="outside"):
        unpack([tmp_path / "bad.tar.xz"], tmp_path / "workspace")
    assert not (tmp_path / "outside").exists()
