import math

import torch

from gonn_core.training.loss import cross_entropy


def test_uniform_logits_cost_the_logarithm_of_the_board():
    logits = torch.zeros(4, 361, dtype=torch.bfloat16)
    loss = cross_entropy(logits, torch.tensor([0, 5, 100, 360]))
    assert loss.dtype == torch.float32
    assert math.isclose(loss.item(), math.log(361), rel_tol=1e-6)


def test_mean_over_the_batch():
    logits = torch.zeros(2, 361)
    logits[0, 7] = math.log(360)  # probability one half
    loss = cross_entropy(logits, torch.tensor([7, 7]))
    assert math.isclose(loss.item(), (math.log(2) + math.log(361)) / 2, rel_tol=1e-6)
