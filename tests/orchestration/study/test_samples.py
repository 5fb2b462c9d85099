"""SAMPLES: which studies it asks for, and what their trials are."""

import pytest

from ablations.registry import load_registry
from ablations.request import Request, at_each_number, budget_at, parse_samples
from ablations.resolve import resolve_study
from gonn_core.errors import SettingError
from orchestration.study.plan import Plan, make_plan
from reports.tables.formats import about
from reports.workspace import Workspace
from tests.trial.helpers import starter_data


@pytest.fixture
def planned(tmp_path, monkeypatch):
    """Plans of a request on the bundled games, one a number of samples."""
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))

    def plans(**settings) -> list[Plan]:
        workspace = Workspace.here()
        requests = at_each_number(Request(**settings))
        return [make_plan(resolve_study(request), workspace) for request in requests]

    return plans


def test_numbers_as_they_are_typed():
    assert parse_samples("100k,25k,0.05M") == (25_000, 50_000, 100_000)
    assert [about(number) for number in (24_992, 99_840, 200_000, 1_500_000, 512)] == [
        "25k", "99.8k", "200k", "1.5M", "512",
    ]  # fmt: skip
    for text in ("", "x", "25k,", "-1", "1e3", "0", "0.3", "50k,50000"):
        with pytest.raises(SettingError, match="SAMPLES"):
            parse_samples(text)


def test_a_study_at_the_budgets_own_samples_is_the_ordinary_one(planned):
    (usual,) = planned(name="parametric_relu", budget="smoke")
    less, same = planned(name="parametric_relu", budget="smoke", samples="5120,2570")
    assert same.study.model_copy(update={"created": usual.study.created}) == usual.study
    assert less.study.samples == 2560 and less.study.id.startswith("parametric_relu-gonn-b5-smoke-2.56k-starter-")
    configs = [plan.study.arms[0].config.training for plan in (less, same)]
    assert [config.samples for config in configs] == [2560, 5120] and configs[0].schedule == configs[1].schedule
    assert configs[0].model_copy(update={"samples": 5120}) == configs[1]
    assert less.design.settings["SAMPLES"] == "2560" and "SAMPLES" not in usual.design.settings


def test_a_base_alone_shares_the_controls_of_its_ablations(planned):
    (study,), (alone,) = (
        planned(name="parametric_relu", budget="smoke"),
        planned(name=None, base="gonn-b5", budget="smoke"),
    )
    assert alone.study.trials == study.study.trials[::2] and alone.study.arms == study.study.arms[:1]
    assert alone.study.cards == alone.study.contrasts == () and alone.study.evaluations == study.study.evaluations
    assert alone.study.id.startswith("control-gonn-b5-smoke-starter-")


def test_a_schedule_in_published_samples_is_run_through_in_these():
    registry = load_registry()
    gpu, base, card = registry.budget("gpu"), registry.base("gonn-b5"), registry.card("parametric_relu")
    assert budget_at(gpu, base, [card], 5_000_000, 5_000_000) is gpu
    shorter = budget_at(gpu, base, [card], 5_000_000, 1_000_100)
    assert (shorter.samples, shorter.compress) == (1_000_000, True)


def test_batches_of_all_arms_are_whole():
    registry = load_registry()
    cpu, base, card = registry.budget("cpu"), registry.base("cazenave-7x128"), registry.card("batch_of_50")
    samples = budget_at(cpu, base, [card.on_base(base.id, cpu.id)], 100_000, 20_100).samples
    assert samples == 20_000
