"""Run in a process of its own: the nets and planted defects named as arguments, those of `QUICK` with none.

Prints {"nets": {name: rehearsal}, "surprises": {name: [...]}, "defects": {name: rehearsal}} as JSON.
"""

import json
import sys
from contextlib import contextmanager
from unittest import mock

import torch
import torch.nn.functional as F

from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.nets.gonn import blocks
from gonn_core.nets.parts import norm
from gonn_core.training import loop
from tests.rehearsal.arms import FAMILIES, Named, cards_by_family, of_cards
from tests.rehearsal.process import Part
from tests.rehearsal.rehearse import rehearse
from tests.rehearsal.waits import surprises


def a_host_tensor_in_a_norm():
    def forward(self, x):
        scale = torch.ones(x.shape[1])
        return F.batch_norm(x, self.mean, self.variance, scale, self.beta, self.training, 0.01, 1e-3)

    return mock.patch.object(norm.BatchNorm, "forward", forward)


def before_convolving(change):
    """A block's convolution whose input `change` has seen."""
    real = blocks.convolve_in_parts
    return mock.patch.object(blocks, "convolve_in_parts", lambda x, kernel, parts: real(change(x), kernel, parts))


def a_number_read_in_a_step():
    real = loop.Trainer.step

    def step(self, batch, on_part=None):
        loss = real(self, batch, on_part)
        loss.item()
        return loss

    return mock.patch.object(loop.Trainer, "step", step)


def a_copy_to_the_host():
    return before_convolving(lambda x: x * x.detach().amax().cpu().to(x.device))


def a_sum_of_unknown_order():
    return before_convolving(lambda x: x + x.float().cumsum(1).to(x.dtype))


def a_list_as_index():
    return before_convolving(lambda x: x[:, list(range(x.shape[1]))])


def a_shape_that_depends_on_numbers():
    return before_convolving(lambda x: x * (x > 0).nonzero().shape[0])


@contextmanager
def float32_in_a_block():
    real = blocks.convolve_in_parts

    def convolve(x, kernel, parts):
        with torch.autocast(x.device.type, enabled=False):
            return real(x.float(), kernel, parts)

    with mock.patch.object(blocks, "convolve_in_parts", convolve):
        yield


def a_wrong_type():
    return before_convolving(lambda x: x.double())


DEFECTS = {
    defect.__name__: defect
    for defect in (
        a_host_tensor_in_a_norm,
        a_number_read_in_a_step,
        a_copy_to_the_host,
        a_sum_of_unknown_order,
        a_list_as_index,
        a_shape_that_depends_on_numbers,
        float32_in_a_block,
        a_wrong_type,
    )
}


def of_gonn(precision: str):
    """The net into which defects are planted."""

    def named(registry) -> Named:
        config = budget_config(registry.base("gonn-b5"), registry.budget("smoke"))
        return Named(f"gonn-b5 {precision}", Part(config=config, precision=precision))

    return named


def of_family(family: str):
    """Off of the card that the order by hash puts first among those of a family."""
    return lambda registry: of_cards(registry, cards_by_family(registry)[family][:1])[0]


NETS = {precision: of_gonn(precision) for precision in ("bf16", "fp32")} | {
    family: of_family(family) for family in FAMILIES[1:]
}
QUICK = ("bf16", *FAMILIES[1:], "a_host_tensor_in_a_norm", "a_sum_of_unknown_order", "a_list_as_index")


def main(wanted) -> None:
    registry = load_registry()
    nets, odd, defects = {}, {}, {}
    for name in wanted:
        if name in NETS:
            part = NETS[name](registry).part
            found = rehearse(part.config, part.batch_size, part.precision)
            nets[name], odd[name] = found.model_dump(mode="json"), surprises(part.config, found)
        else:
            part = NETS["bf16"](registry).part
            with DEFECTS[name]():
                defects[name] = rehearse(part.config, precision="bf16").model_dump(mode="json")
    json.dump({"nets": nets, "surprises": odd, "defects": defects}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:] or QUICK)
