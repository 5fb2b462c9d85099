"""Memory: what counts as a lack of it, and what a trial that meets one leaves behind. No GPU is needed: the errors
are raised by hand."""

import errno
import gc
import weakref

import pytest
import torch

from gonn_core.errors import OutOfMemory, shortage
from gonn_core.training.loop import Trainer
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job

MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 8.00 GiB"


@pytest.mark.parametrize(
    "error, problem",
    [
        (torch.OutOfMemoryError(MESSAGE), "CUDA out of memory"),
        (RuntimeError("CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA`"), "CUDA error: out of memory"),
        (
            RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
            "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        ),
        (MemoryError(), "MemoryError"),
        (MemoryError("Unable to allocate 9.17 MiB"), "Unable to allocate 9.17 MiB"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "[Errno 12] Cannot allocate memory"),
        (RuntimeError("the loss is not finite"), None),
        (ValueError("out of memory"), None),
    ],
)
def test_what_is_a_lack_of_memory(error, problem):
    assert shortage(error) == problem


def test_a_trial_that_runs_out_of_memory_lets_go_of_it_and_goes_on_later(tmp_path, monkeypatch):
    config = tiny_config(training__samples=80)
    whole = tiny_job(tmp_path / "whole", config)
    run_trial(whole)
    job = tiny_job(tmp_path / "short", config, checkpoint_seconds=0.0)
    step, nets = Trainer.step, []

    def short_of_memory(self, batch, *others):
        nets.append(weakref.ref(self.net))
        if len(nets) == 4:
            raise torch.OutOfMemoryError(MESSAGE)
        return step(self, batch, *others)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "step", short_of_memory)
        with pytest.raises(OutOfMemory) as caught:
            run_trial(job)
    assert str(caught.value) == "out of memory (CUDA out of memory)" and caught.value.__context__ is None
    gc.collect()
    assert nets[-1]() is None, "nothing holds the trial's tensors any more"
    directory = TrialDirectory(tmp_path / "short" / job.id)
    assert directory.failure() is None and directory.state() == "paused"
    assert run_trial(job)["state"] == "done"
    assert_same_trial(tmp_path / "whole" / whole.id, tmp_path / "short" / job.id)
