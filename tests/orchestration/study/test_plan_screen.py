"""`gonn plan … --design screen`: what is refused, what is shown, which trials it shares with other studies."""

import math
import re

import pytest

from orchestration.experiment import speeds
from orchestration.study.plan_view import power
from reports.results.decisions import KnownNoise
from reports.stats.model import RunNoise, smallest_shown
from reports.stats.verdicts import Thresholds
from tests.ablations.screened import PINNED, study_of
from tests.orchestration.commands import gonn, workspace

CARDS = "ko_plane,ladder_input,center_init,global_pooling_head,stdev_pooling"
SMOKE = ("--budget", "smoke")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return workspace(tmp_path_factory.mktemp("screens"))


@pytest.fixture
def plan(home, monkeypatch):
    """Runs `gonn plan` on the budget smoke; returns what it says. No speed is measured."""
    monkeypatch.setattr(speeds, "one_speed", lambda config, device, seconds, compile: (100.0, 250.0))

    def run(*arguments: str) -> str:
        code, out, err = gonn(home, "plan", *arguments, *SMOKE)
        assert code == 0, err
        return out

    return run


def trials(out: str) -> list[str]:
    return re.findall(r"\b[0-9a-f]{16}\b", out)


def test_what_it_says(plan):
    out = plan(CARDS, "--design", "screen", "--runs", "16")
    assert all(len(line) <= 160 for line in out.splitlines()) and len(set(trials(out))) == 16
    assert "to train: 16 of 16 trials of 5,120 samples" in " ".join(out.split())
    assert "first one" not in out
    changed = [match[1].split() for match in re.finditer(r"run-\d\d +((?:\d )+|–) *[0-9a-f]{16}", out)]
    assert len({tuple(numbers) for numbers in changed}) == 16, "no arm twice"
    assert [sum(str(card) in numbers for numbers in changed) for card in range(1, 6)] == [8, 8, 8, 4, 4]


def test_what_it_could_show_by_the_noise_of_known_runs():
    study, known = study_of(*PINNED), KnownNoise(RunNoise(0.012, 40.0), 1e-6, 71, ("one", "other"))
    deviation, whole, halves, alone = power(study, known)
    assert deviation.startswith("standard deviation of a run, σ: 0.0120 nats, by 71 runs on this base")
    se, parts = math.sqrt(0.012**2 * 2 / 32 + 1e-6), math.sqrt(0.012**2 * 2 / 16 + 1e-6)
    effect = smallest_shown(se, 40 + 64 - 16 - 2, 0.05, Thresholds())
    shown = f"smallest effect shown with 80 % power: {effect:.4f} nats ({effect / 0.012:.1f} σ)"
    assert f": standard error {se:.4f} nats; {shown}" in whole
    assert halves.startswith(f"global_pooling_head, stdev_pooling: standard error {parts:.4f} nats")
    assert alone == (
        "one at a time, 64 runs are 3 seeds an arm: smallest effect shown with 80 % power: "
        f"{known.smallest_effect(3, Thresholds()):.4f} nats"
    )
    assert power(study_of(*PINNED, runs=32), known)[-1].endswith("32 runs are 1 seed an arm: too few to judge")


def test_cards_that_move_the_best_rate_are_named(plan):
    out = " ".join(plan("batchnorm_gamma,stem_center_kernel,ko_plane", "--design", "screen", "--runs", "8").split())
    assert "yet these move the best one: batchnorm_gamma, stem_center_kernel (better one at a time)" in out


def test_a_group_is_told_what_it_lacks(plan):
    out = plan("net.head,net.stem,data", "--design", "screen", "--hold", "ko_plane")
    assert "HOLD: on in all arms, as in gonn-b5" in out
    assert "left out" in out and "its arms see different positions (pairing none)" in out


def test_folding_over_keeps_the_trials(plan):
    cards = "ko_plane,ladder_input,center_init,chain_pooling,stem_kernel_5x5,parametric_relu"
    whole = trials(plan(cards, "--design", "screen", "--runs", "16"))
    out = plan(cards, "--design", "screen", "--runs", "32", "--fold", "ko_plane")
    assert "32 runs: 32 arms, half of them with the sign of ko_plane reversed" in out
    assert set(whole) < set(trials(out)) and len(set(trials(out))) == 32


def test_one_at_a_time_afterwards_shares_the_base(plan):
    screen = plan(CARDS, "--design", "screen", "--runs", "32")
    alone = plan("ko_plane,ladder_input", "--seeds", "2")
    control = trials(alone)[:2]
    assert set(control) <= set(trials(screen))


@pytest.mark.parametrize(("settings", "line"), [
    (["--runs", "32"], "RUNS=32: DESIGN=add-one has no such setting; valid: DESIGN=screen"),
    (["--fold", "ko_plane"], "FOLD=ko_plane: DESIGN=add-one has no such setting; valid: DESIGN=screen"),
    (["--design", "screen", "--runs", "20"], "RUNS=20: the screen has 16 arms; valid: 16, 32, 64, 128, …"),
    (["--design", "screen", "--runs", "16", "--seeds", "3"],
     "SEEDS=1,2,3: 16 runs are 1 of each of the 16 arms; valid: 1, 2 or 4 seeds, or other RUNS"),
    (["--design", "screen", "--hold", "elu"], "HOLD=elu: "),
    (["--name-of-a-group"], "NAME=net.head: a group of enhancements; valid: single ones, or DESIGN=screen"),
    (["--design", "screen", "--lr", "search"], "LR=search: a screen combines enhancements in every arm"),
])  # fmt: skip
def test_what_is_refused(home, settings, line):
    words = ["net.head"] if settings == ["--name-of-a-group"] else [CARDS, *settings]
    code, out, err = gonn(home, "plan", *words, *SMOKE)
    assert (code, out) == (2, "") and err.startswith(line) and len(err.splitlines()) == 1
