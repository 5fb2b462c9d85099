"""The table of all plane sets and targets in `benchmarks.planes`: positions a second of one loader thread.

Cazenave's set is timed four times: without ladders, with the ladder marks that are stored beside a store, with ladders
searched for, and with the plain search (`plain_ladders`) for a baseline, whose planes are compared with the others
first.
"""

import statistics
import time

import numpy as np

from benchmarks.plain_ladders import mark_ladders_plainly
from gonn_core.config import FeatureConfig
from gonn_core.features.cazenave_ladders import make_workspaces
from gonn_core.features.marks import ROOM, make_tables, mark_rows, write_numbers
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes
from gonn_core.features.source import plane_source
from gonn_core.features.stored_ladders import make_marks
from gonn_core.features.targets import NAMES, Targets
from gonn_core.go.points import POINTS

ENOUGH = 20_000
"""Positions a second that one thread is to make of every set; ours: one thread then feeds a large net on a fast GPU."""
_CAZENAVE = FeatureConfig(set="cazenave", liberties=5, liberties_after=6, third_line=True, zeros=True, ko_flag=True)
_SETS = (
    ("gonn, lczero", FeatureConfig(), 1),
    ("gonn, 5 past boards", FeatureConfig(past_boards=5), 2),
    ("go_nn", FeatureConfig(set="go_nn", liberties_after=0, history=4, ladders=False, captures=True), 2),
    (
        "clark",
        FeatureConfig(
            set="clark", liberties=3, liberties_after=0, history=0, ladders=False, ones=False, edge="channel"
        ),
        2,
    ),
    ("cazenave, no ladders", _CAZENAVE.model_copy(update={"ladders": False}), 4),
)
"""Name, planes, and by how much fewer positions are timed."""


def print_sets(store, options) -> None:
    """Make the ladder marks of the store, unless they are there, check the ways against each other, time all."""
    source, rates = plane_source(store), {}
    started, cpu = time.perf_counter(), time.process_time()
    stored = make_marks(store)
    made = time.process_time() - cpu
    print(f"\nladder marks of {len(store):,} positions: {made:,.0f} CPU-s ({time.perf_counter() - started:,.0f} s)")

    def searched(*batch):
        make_planes(_CAZENAVE, source, *batch)

    def looked_up(*batch):
        make_planes(_CAZENAVE, source, *batch, stored)

    def plain(*batch):
        _plain_cazenave(source, *batch)

    ways = [(name, _maker(features, source), features, fewer) for name, features, fewer in _SETS]
    ways += [
        ("cazenave, stored", looked_up, _CAZENAVE, 4),
        ("cazenave, searched", searched, _CAZENAVE, 50),
        ("cazenave, plain", plain, _CAZENAVE, 100),
    ]
    _check(store, options, looked_up, searched, plain)
    print(f"{'set':<24} {'planes':>7} {'pos/CPU-s':>10} {'lowest':>10} {'enough':>7}")
    for name, make, features, fewer in ways:
        planes = len(computed_planes(features))
        rates[name] = _rates(store, options, make, planes, fewer)
        _print(name, planes, rates[name])
    print(
        f"stored is {statistics.median(rates['cazenave, stored']) / statistics.median(rates['cazenave, plain']):.1f} x"
    )
    print(f"\n{'target':<24} {'':>7} {'pos/CPU-s':>10} {'lowest':>10} {'enough':>7}")
    for name in NAMES:
        targets = Targets(store, [name])

        def make(rows, symmetries, keep, out, moves, targets=targets):
            targets.make(rows, symmetries)

        _print(name, None, _rates(store, options, make, 1, 4))


def _maker(features, source):
    def make(*batch):
        make_planes(features, source, *batch)

    return make


def _plain_cazenave(source, rows, symmetries, keep, out, targets):
    tables = make_tables(computed_planes(_CAZENAVE), False)
    marks, counts = np.empty((len(rows), ROOM), np.uint16), np.empty(len(rows), np.int64)
    mark_rows(source, rows, symmetries, keep, tables, marks, counts, targets)
    mark_ladders_plainly(source, rows, symmetries, tables.ladders, *make_workspaces(), marks, counts)
    write_numbers(marks, counts, out.reshape(len(rows), -1))


def _batches(store, options, count, seed):
    generator = np.random.default_rng(seed)
    for _ in range(max(1, count // options.batch)):
        rows = generator.integers(0, len(store), options.batch)
        yield rows, *(generator.integers(0, end, options.batch).astype(np.uint8) for end in (8, 6))


def _check(store, options, *ways):
    """All ways agree on a few thousand positions, or there is nothing to compare."""
    planes = len(computed_planes(_CAZENAVE))
    for batch in _batches(store, options, 10 * options.batch, 0):
        made = []
        for make in ways:
            made.append(np.empty((options.batch, planes, POINTS), np.float32))
            make(*batch, made[-1], np.empty(options.batch, np.int64))
        if not all(np.array_equal(each, made[0]) for each in made):
            raise SystemExit("the ways to make Cazenave's planes differ: no figures")


def _rates(store, options, make, planes: int, fewer: int) -> list[float]:
    """Positions per second of this thread's CPU time, of each round; the first pass, which compiles, is not counted."""
    out, targets = np.empty((options.batch, planes, POINTS), np.float32), np.empty(options.batch, np.int64)
    batches = list(_batches(store, options, options.positions // fewer, 1))
    rates = []
    for _ in range(1 + options.rounds):
        started = time.thread_time()
        for batch in batches:
            make(*batch, out, targets)
        rates.append(len(batches) * options.batch / (time.thread_time() - started))
    return rates[1:]


def _print(name, planes, rates):
    median = statistics.median(rates)
    enough = "yes" if median >= ENOUGH else "no"
    print(f"{name:<24} {planes or '':>7} {median:>10,.0f} {min(rates):>10,.0f} {enough:>7}")
