"""Trials of nets with inserted blocks, paused and resumed, equal uninterrupted ones bit for bit."""

from pathlib import Path

import pytest
import torch

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job


@pytest.mark.parametrize(
    "toggles",
    [
        {"net__trunk__ladder_block": True, "net__activation": "prelu"},
        {"net__trunk__chain_pooling": 1, "net__trunk__chain_pooling_init": 1.0},
        {"net__trunk__wide_blocks": "shared", "net__norm_gamma": True},
        {"net__trunk__wide_blocks": "split", "net__head__activation": "relu"},
    ],
    ids=["ladder", "chains", "wide", "wide_split_relu_head"],
)
def test_resumed_is_the_same(tmp_path, toggles):
    config = tiny_config(training__samples=240, **toggles)
    whole, parted = (tiny_job(tmp_path / name, config, progress_points=2) for name in ("whole", "parted"))
    run_trial(whole)
    assert run_trial(parted, lambda event: not (event.kind == "point" and event.samples >= 120))["state"] == "paused"
    torch.manual_seed(9)
    assert run_trial(parted)["state"] == "done"
    folders = [Path(job.run.runs) / job.id for job in (whole, parted)]
    assert [session["from_samples"] for session in TrialDirectory(folders[1]).config()["sessions"]] == [0, 120]
    assert_same_trial(*folders)
