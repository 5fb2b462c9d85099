"""Samples per CPU-second of a 3x32 net, forward and backward, one thread: activation x precision x memory format.

    python -m benchmarks.nets [--width 32] [--blocks 3] [--batch 32] [--rounds 7] [--seconds 0.7]

Baseline: PyTorch's own `F.prelu` in float32 and contiguous memory; beside ours `F.mish`. Every variant is timed in each
round, in turn, so that what else the machine does falls on all alike; the median over the rounds is printed. No
optimiser step, no planes: the net alone.
"""

import argparse
import statistics
import time
from contextlib import contextmanager

import torch
import torch.nn.functional as F

from gonn_core.config import HeadConfig, NetConfig, StemConfig, TrunkConfig
from gonn_core.nets import build_net
from gonn_core.nets.parts import norm

PLANES = 26
ACTIVATIONS = {"F.prelu": "prelu", "own PReLU": "prelu", "F.mish": "mish", "own Mish": "mish", "ReLU": "relu"}
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


class TorchPReLU:
    """`F.prelu` in the place of our own function."""

    @staticmethod
    def apply(x, slopes):
        return F.prelu(x, slopes.to(x.dtype))


@contextmanager
def activation_of(label: str):
    """While it lasts, nets use the implementation that `label` names."""
    own = norm.PReLU, norm.mish
    norm.PReLU = TorchPReLU if label == "F.prelu" else norm.PReLU
    norm.mish = F.mish if label == "F.mish" else norm.mish
    try:
        yield
    finally:
        norm.PReLU, norm.mish = own


def step_of(label: str, precision: str, memory: str, options):
    """A function that runs forward and backward of one batch, in training mode."""
    net = NetConfig(
        activation=ACTIVATIONS[label],
        norm_gamma=True,
        stem=StemConfig(center_kernel=True),
        trunk=TrunkConfig(width=options.width, blocks=options.blocks),
        head=HeadConfig(pooling="mean_max"),
    )
    model = build_net(net, [f"plane_{i}" for i in range(PLANES)], 0).to(memory_format=FORMATS[memory])
    generator = torch.Generator().manual_seed(0)
    planes = (
        (torch.rand(options.batch, PLANES, 19, 19, generator=generator) < 0.2)
        .float()
        .contiguous(memory_format=FORMATS[memory])
    )
    moves = torch.randint(361, (options.batch,), generator=generator)

    def step():
        model.zero_grad()
        with activation_of(label):
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
                logits = model(planes)
            F.cross_entropy(logits, moves).backward()

    return step


def rate(step, batch: int, seconds: float) -> float:
    """Samples per CPU-second over about `seconds`."""
    start, steps = time.process_time(), 0
    while time.process_time() - start < seconds:
        step()
        steps += 1
    return steps * batch / (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name, default in (("width", 32), ("blocks", 3), ("batch", 32), ("rounds", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=0.7)
    options = parser.parse_args()
    torch.set_num_threads(1)
    variants = [(a, p, m) for p in ("fp32", "bf16") for m in FORMATS for a in ACTIVATIONS]
    steps = {variant: step_of(*variant, options) for variant in variants}
    rates: dict[tuple[str, str, str], list[float]] = {variant: [] for variant in variants}
    for step in steps.values():
        step()
    for _ in range(options.rounds):
        for variant, step in steps.items():
            rates[variant].append(rate(step, options.batch, options.seconds))
    medians = {variant: statistics.median(values) for variant, values in rates.items()}
    baseline = medians[("F.prelu", "fp32", "contiguous")]
    net = f"{options.blocks} blocks x {options.width}"
    print(f"{net}, batch {options.batch}, one thread; median of {options.rounds} rounds")
    setting = f"{'precision':<10} {'memory':<14} {'activation':<10}"
    print(f"{setting} {'samples/CPU-s':>13} {'lowest':>8} {'highest':>8} {'x baseline':>10}")
    for (label, precision, memory), value in medians.items():
        low, high = min(rates[label, precision, memory]), max(rates[label, precision, memory])
        setting = f"{precision:<10} {memory:<14} {label:<10}"
        print(f"{setting} {value:>13.0f} {low:>8.0f} {high:>8.0f} {value / baseline:>10.2f}")


if __name__ == "__main__":
    main()
