"""Input planes from the position store: positions a second, in the way that training asks for them.

First GoNN's 26, ladders included, then every set and every target beside the move, one thread (`plane_sets`).

    python -m benchmarks.planes GAMES... [--stores stores] [--batch 256] [--positions 200000] [--rounds 3]

GAMES are SGF archives or folders; their position store is built below the folder of stores, or found there. Every batch
has random rows of the whole store, a random symmetry and a random number of history planes for each: rows in game order
would let the processor guess the branches and flatter the result. Medians of the rounds, per second of thread CPU time;
for two threads also per second of wall time, whose ratio to one thread says whether they hinder each other (on a
machine with two free cores).

Baseline of GoNN's: the same planes by the plain method, compiled in the same way: flood fill for every stone, and for
every empty point and side a copy of the board on which the move is played. Its planes are compared with the fast ones
before anything is timed.
"""

import argparse
import statistics
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.plane_sets import print_sets
from gonn_core.config import FeatureConfig
from gonn_core.features.gonn import PLANES
from gonn_core.features.planes import make_planes, packed_bytes
from gonn_core.features.source import plane_source
from gonn_core.go.jit import kernel
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import PADDED, POINTS, STRIDE, SYMMETRY, TO_PADDED, WORDS
from gonn_core.records.build import GameSource, prepare_store

EDGE = 3


@kernel
def flood(cells, start, stones, seen):
    """(liberties, stones) of the chain at `start`: their numbers; its stones are listed in `stones`. `seen` is
    scratch."""
    seen[:] = 0
    colour, count, liberties, done = cells[start], 1, 0, 0
    stones[0] = start
    seen[start] = 1
    while done < count:
        for step in (-STRIDE, -1, 1, STRIDE):
            q = stones[done] + step
            if seen[q] == 0 and (cells[q] == 0 or cells[q] == colour):
                seen[q] = 1
                if cells[q] == 0:
                    liberties += 1
                else:
                    stones[count] = q
                    count += 1
        done += 1
    return liberties, count


@kernel
def plain_planes(stones_of, ladders, moves, rows, symmetries, keep, out, targets):
    """The baseline: arguments and results of `make_planes` for GoNN's set, `out` (B, 26, 361)."""
    cells, after = np.empty(PADDED, np.uint8), np.empty(PADDED, np.uint8)
    stones, seen = np.empty(PADDED, np.int64), np.empty(PADDED, np.uint8)
    for j in range(len(rows)):
        row, image, planes = rows[j], SYMMETRY[symmetries[j]], out[j]
        planes[:] = 0
        planes[0] = 1
        white = moves[row, FLAGS] & WHITE_TO_MOVE
        cells[:] = EDGE
        for p in range(POINTS):
            black_stone = (stones_of[row, p >> 6] >> np.uint64(p & 63)) & np.uint64(1)
            white_stone = (stones_of[row, WORDS + (p >> 6)] >> np.uint64(p & 63)) & np.uint64(1)
            own, opponent = (white_stone, black_stone) if white else (black_stone, white_stone)
            cells[TO_PADDED[image[p]]] = own + 2 * opponent
        for p in range(POINTS):
            at, point = TO_PADDED[image[p]], image[p]
            in_ladder = (ladders[row, p >> 6] >> np.uint64(p & 63)) & np.uint64(1)
            if cells[at] == 0:
                if in_ladder:
                    planes[25, point] = 1
                for colour in (1, 2):
                    after[:] = cells
                    after[at] = colour
                    for step in (-STRIDE, -1, 1, STRIDE):
                        if after[at + step] == 3 - colour:
                            liberties, count = flood(after, at + step, stones, seen)
                            if liberties == 0:
                                for k in range(count):
                                    after[stones[k]] = 0
                    liberties, count = flood(after, at, stones, seen)
                    if 1 <= liberties <= 3:
                        planes[7 + 3 * colour + liberties, point] = 1
            else:
                planes[cells[at], point] = 1
                liberties, count = flood(cells, at, stones, seen)
                if 1 <= liberties <= 4:
                    planes[4 * cells[at] - 2 + liberties, point] = 1
                if in_ladder:
                    planes[22 + liberties, point] = 1
        if moves[row, KO] >= 0:
            planes[17, image[moves[row, KO]]] = 1
        for k in range(keep[j]):
            if moves[row - k, FLAGS] & FIRST or moves[row - k - 1, FLAGS] & WHITE_TO_MOVE != (white + k + 1) % 2:
                break
            if moves[row - k - 1, MOVE] >= 0:
                planes[18 + k, image[moves[row - k - 1, MOVE]]] = 1
        targets[j] = image[moves[row, MOVE]] if moves[row, MOVE] >= 0 else -1


class Job:
    """One thread's batches and the memory that they are made in."""

    def __init__(self, fill, store, shape, dtype, options, positions, seed):
        generator = np.random.default_rng(seed)
        size = options.batch
        self.fill, self.store, self.positions = fill, store, positions // size * size
        self.out, self.targets = np.empty((size, *shape), dtype), np.empty(size, np.int64)
        self.batches = [
            (
                generator.integers(0, len(store), size),
                generator.integers(0, 8, size).astype(np.uint8),
                generator.integers(0, 6, size).astype(np.uint8),
            )
            for _ in range(positions // size)
        ]

    def run(self):
        start = time.thread_time()
        for batch in self.batches:
            self.fill(*batch, self.out, self.targets)
        self.cpu_seconds = time.thread_time() - start


def timed(jobs) -> tuple[float, float]:
    """Positions per CPU-second (of one thread) and per second of wall time (of all) of jobs that run side by side."""
    threads = [threading.Thread(target=job.run) for job in jobs]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - start
    return sum(job.positions for job in jobs) / sum(job.cpu_seconds for job in jobs), sum(
        job.positions for job in jobs
    ) / wall


def ways(store):
    """How planes are made, packed, and made plainly: functions of a batch, `out` and `targets`."""
    source = plane_source(store)
    make = partial(make_planes, FeatureConfig(), source)
    return make, make, partial(plain_planes, source.stones, source.ladders, source.moves)


def check_baseline(store, options):
    """The two ways agree on a few thousand positions, or there is nothing to compare."""
    make, _, plainly = ways(store)
    fast = Job(make, store, (PLANES, POINTS), np.uint8, options, 10 * options.batch, 0)
    plain = Job(plainly, store, (PLANES, POINTS), np.uint8, options, 10 * options.batch, 0)
    for batch in fast.batches:
        fast.fill(*batch, fast.out, fast.targets)
        plain.fill(*batch, plain.out, plain.targets)
        if not (np.array_equal(fast.out, plain.out) and np.array_equal(fast.targets, plain.targets)):
            raise SystemExit("the baseline and the planes differ: no figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="+", type=Path)
    parser.add_argument("--stores", type=Path, default=Path("stores"))
    for name, default in (("batch", 256), ("positions", 200_000), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    store = prepare_store([GameSource(path) for path in options.games], options.stores)
    check_baseline(store, options)
    dense, packed = (PLANES, POINTS), (packed_bytes(FeatureConfig()),)
    make, pack, plainly = ways(store)
    variants = [
        ("plain method, float32", plainly, dense, np.float32, 1, options.positions // 20),
        ("planes, float32", make, dense, np.float32, 1, options.positions),
        ("planes, uint8", make, dense, np.uint8, 1, options.positions),
        ("planes, packed bits", pack, packed, np.uint8, 1, options.positions),
        ("planes, float32", make, dense, np.float32, 2, options.positions),
    ]
    jobs = [
        [Job(fill, store, shape, dtype, options, positions, seed) for seed in range(threads)]
        for _, fill, shape, dtype, threads, positions in variants
    ]
    for group in jobs:
        timed(group)  # compiles, and brings the store into the page cache
    rates: list[list[tuple[float, float]]] = [[] for _ in variants]
    for _ in range(options.rounds):
        for group, measured in zip(jobs, rates, strict=True):
            measured.append(timed(group))
    batches = f"batches of {options.batch} random rows"
    print(f"{len(store):,} positions in the store; {batches}; median of {options.rounds} rounds")
    print(f"{'job':<24} {'threads':>7} {'pos/CPU-s':>10} {'pos/s wall':>10} {'x baseline':>10}")
    medians = [tuple(statistics.median(values) for values in zip(*measured, strict=True)) for measured in rates]
    for (name, *_, threads, _), (cpu, wall) in zip(variants, medians, strict=True):
        print(f"{name:<24} {threads:>7} {cpu:>10,.0f} {wall:>10,.0f} {cpu / medians[0][0]:>10.1f}")
    (cpu_1, wall_1), (cpu_2, wall_2) = medians[1], medians[-1]
    print(f"two threads: {wall_2 / wall_1:.2f} x the wall rate and {cpu_2 / cpu_1:.2f} x the CPU rate of one")
    print_sets(store, options)


if __name__ == "__main__":
    main()
