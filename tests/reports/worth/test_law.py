"""Size and samples: a law is found again from nets that follow one, its intervals cover, and too little tells none."""

from types import SimpleNamespace

import numpy as np
import pytest

from gonn_core.config import with_values
from reports.book.samples import law_tables
from reports.results.nets import net_cost
from reports.worth.law import Trained, fit_law
from tests.reports.made_studies import registry

SAMPLES = (25_000, 50_000, 100_000, 200_000)


def loss(size, samples):
    return 1.2 + 0.6 * (size / 1.7e8) ** -0.25 + 0.55 * (samples / 1e5) ** -0.45


def made(noise=0.0, seed=0, sizes=(4e7, 1.7e8, 4.5e8, 9e8)):
    generator = np.random.default_rng(seed)
    return [Trained(size, count, loss(size, count) + generator.normal(0, noise)) for size in sizes for count in SAMPLES]


def best_by_trying(operations):
    sizes = np.exp(np.linspace(np.log(1e7), np.log(1e11), 20_001))
    return float(sizes[np.argmin(loss(sizes, operations / sizes))])


def test_the_law_is_found_again_and_its_best_size_is_that_of_a_search():
    law = fit_law(made())
    assert law.nats(3e8, 4e5) == pytest.approx(loss(3e8, 4e5), abs=1e-6)
    for operations in (1e13, 1e15):
        size, _, nats, _ = law.best(operations)
        assert size == pytest.approx(best_by_trying(operations), rel=0.01)
        assert nats == pytest.approx(loss(size, operations / size), abs=1e-6)


def test_intervals_cover_the_best_size_and_its_loss():
    truth, covered = best_by_trying(1e15), np.zeros(2)
    for seed in range(60):
        _, sizes, _, nats = fit_law(made(0.01, seed)).best(1e15)
        covered += sizes.low <= truth <= sizes.high, nats.low <= loss(truth, 1e15 / truth) <= nats.high
    assert (covered >= 54).all()


def test_nets_of_two_sizes_or_of_no_effect_tell_no_law():
    assert fit_law(made(sizes=(1.7e8, 4.5e8))) is None
    assert fit_law([Trained(size, count, 2.0) for size in (1e8, 2e8, 4e8) for count in SAMPLES]) is None


def test_the_table_takes_nets_that_differ_in_size_and_samples_alone():
    config, nets = registry().base("gonn-b5").config, []
    length = config.training.schedule.compression * config.training.samples
    for blocks, width in ((2, 16), (3, 32), (4, 48), (6, 64)):
        for count in SAMPLES:
            values = {"net.trunk.blocks": blocks, "net.trunk.width": width, "training.samples": count}
            sized = with_values(config, {**values, "training.schedule.compression": length / count})
            nats = loss(net_cost(sized)[1], count)
            nets.append(net(sized, nats - 0.01, nats + 0.01))
    other = net(with_values(config, {"net.activation": "relu"}), 9.0)
    (table,) = law_tables([*nets, nets[0], other])
    assert "32 trials of 16 nets" in table.title
    row = table.rows[-1].cells
    assert (row["operations"].value, row["size"].value[0]) == (1e15, pytest.approx(best_by_trying(1e15), rel=0.01))
    assert row["samples"].value == pytest.approx(1e15 / row["size"].value[0])


def net(config, *nats):
    trials = [SimpleNamespace(id=f"{config} {seed}", result={"nats": each}) for seed, each in enumerate(nats)]
    return SimpleNamespace(study=SimpleNamespace(base="gonn-b5", data="kgs"), config=config, trials=trials, cache=None)
