"""Rehearses in a process of its own: reads a JSON list of [config, batch size, precision, planted defect or null] from
the standard input, writes a rehearsal a line."""

import json
import sys
from contextlib import nullcontext
from unittest import mock

import torch
import torch.nn.functional as F

from gonn_core.config import parse_config
from gonn_core.nets.gonn import blocks
from gonn_core.nets.parts import norm
from gonn_core.training import loop
from tests.rehearsal.rehearse import rehearse


def a_host_tensor_in_a_norm():
    def forward(self, x):
        scale = torch.ones(x.shape[1])
        return F.batch_norm(x, self.mean, self.variance, scale, self.beta, self.training, 0.01, 1e-3)

    return mock.patch.object(norm.BatchNorm, "forward", forward)


def a_number_read_in_a_step():
    real = loop.Trainer.step
    return mock.patch.object(loop.Trainer, "step", lambda self, batch: (loss := real(self, batch), loss.item())[0])


def float32_in_a_block():
    real = blocks.convolve_in_parts

    def convolve(x, kernel, parts):
        with torch.autocast(x.device.type, enabled=False):
            return real(x.float(), kernel, parts)

    return mock.patch.object(blocks, "convolve_in_parts", convolve)


def before_convolving(change):
    """A block's convolution whose input `change` has seen."""
    real = blocks.convolve_in_parts
    return lambda: mock.patch.object(
        blocks, "convolve_in_parts", lambda x, kernel, parts: real(change(x), kernel, parts)
    )


DEFECTS = {
    "a_host_tensor_in_a_norm": a_host_tensor_in_a_norm,
    "a_number_read_in_a_step": a_number_read_in_a_step,
    "float32_in_a_block": float32_in_a_block,
    "a_copy_to_the_host": before_convolving(lambda x: x * x.detach().amax().cpu().to(x.device)),
    "a_sum_of_unknown_order": before_convolving(lambda x: x + x.float().cumsum(1).to(x.dtype)),
    "a_list_as_index": before_convolving(lambda x: x[:, list(range(x.shape[1]))]),
    "a_shape_that_depends_on_numbers": before_convolving(lambda x: x * (x > 0).nonzero().shape[0]),
    "a_wrong_type": before_convolving(lambda x: x.double()),
}

if __name__ == "__main__":
    out, sys.stdout = sys.stdout, sys.stderr  # torch prints, too
    for tree, size, precision, defect in json.load(sys.stdin):
        with DEFECTS[defect]() if defect else nullcontext():
            print(json.dumps(rehearse(parse_config(tree), size, precision)), file=out, flush=True)
