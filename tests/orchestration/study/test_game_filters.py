"""Studies whose arms train on other games: planned, refused where the games make no difference, run."""

import json
from functools import partial

import pytest

from ablations.data import datasets
from ablations.registry import load_registry
from gonn_core.trial.data import TrialData
from tests.orchestration import commands
from tests.records.sgf_tools import ROOT, numbered_game, sgf, tar_bytes

CARDS = [
    card.id for card in load_registry().cards.values() if any(path.startswith("data.games.") for path in card.toggles)
]
PROFESSIONALS = "BR[9p]WR[6p]"


def odd_game(number: int) -> bytes:
    """One game in five is what some filter leaves out."""
    root = f"{ROOT}{PROFESSIONALS}DT[2001]"
    return {
        1: numbered_game(number, root=f"{root}HA[2]"),
        2: numbered_game(number, root=f"{ROOT}BR[3k]WR[9p]DT[2001]"),
        3: numbered_game(number, root=f"{ROOT}{PROFESSIONALS}DT[1750]"),
        4: numbered_game(number, root=f"{root}C[this record is corrupt]"),
        5: sgf(f"B aa W {'bcdefghij'[number // 25 % 9]}{'klmnopqrs'[number // 225 % 9]} B aa", root),
    }.get(number % 25, numbered_game(number, root=root))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """400 games and a workspace."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "all.tar").write_bytes(tar_bytes({f"{number}.sgf": odd_game(number) for number in range(400)}))
    (folder / "home").mkdir()
    return folder


@pytest.fixture
def gonn(folder):
    """Runs the command in a workspace that the tests share; returns (status, output, errors)."""
    return partial(commands.gonn, folder / "home")


@pytest.mark.parametrize("card", CARDS)
def test_a_plan_shows_the_filter_and_the_positions_of_each_arm(gonn, folder, card):
    status, out, _ = gonn("plan", card, "--data", str(folder / "all.tar"), "--budget", "smoke")
    assert status == 0
    (path, toggle), *_ = load_registry().card(card).toggles.items()
    told = " ".join(out.split())
    assert f"{path} = {json.dumps(toggle.on)}" in told
    counted = told.partition("training positions: ")[2].partition(" arm ")[0].replace(",", "").split()
    assert int(counted[1]) > int(counted[-1]) > 0, told


def test_games_that_make_no_difference_are_refused_before_any_work(gonn, folder):
    status, out, err = gonn("ablate", "exclude_handicap", "--budget", "smoke", "--runner", "local", "--no-track")
    assert status == 2 and not (folder / "home" / "studies").exists() and not (folder / "home" / "runs").exists()
    line = err.splitlines()[-1]
    assert line.startswith("DATA=starter: arms control and with-exclude_handicap train on the same ") and line.endswith(
        "; valid: a data set with games that the filter leaves out"
    )


def test_a_data_set_with_a_third_filter_of_its_own(gonn, folder, tmp_path, monkeypatch):
    declared = (datasets.DECLARATIONS / "kgs.yaml").read_text()
    (tmp_path / "kgs.yaml").write_text(declared.replace("min_rank: 5", "min_rank: 3"))
    monkeypatch.setattr(datasets, "DECLARATIONS", tmp_path)
    games = folder / "KGS-2001-19.tar"
    games.write_bytes(b"never opened")
    status, _, err = gonn("plan", "mover_rank_filter", "--data", "kgs", "--data-dir", str(folder), "--budget", "smoke")
    games.unlink()
    assert status == 2
    assert err.splitlines()[-1].startswith("DATA=kgs: its own filter (min_rank 3) is neither the off nor the on value")


def test_a_trial_of_a_filter_alone(gonn, folder):
    job = folder / "job.json"
    words = ["--budget", "smoke", "--set", "data.games.max_handicap=0", "--data", str(folder / "all.tar")]
    status, _, err = gonn("train", "gonn-b5", *words, "--job", str(job))
    assert status == 2 and not job.exists()
    assert err.splitlines()[-1].startswith(
        "--set data.games={'max_handicap': 0}: a job file names a data set's own views"
    )


@pytest.mark.system
def test_a_study_of_filters_runs_and_shares_the_ordinary_control(gonn, folder):
    data = ["--data", str(folder / "all.tar"), "--budget", "smoke", "--samples", "960", "--seeds", "1"]
    data += ["--runner", "local", "--no-track"]
    status, out, err = gonn("ablate", "exclude_handicap,minimum_year", *data, "--base", "gonn-b5")
    assert status == 0, err
    (study,) = (json.loads(path.read_text()) for path in (folder / "home" / "studies").glob("*/study.json"))
    assert study["pairing"] == "none" and len({arm["config"]["data"]["view"] for arm in study["arms"]}) == 3
    assert all(set(arm["config"]["data"]["games"].values()) == {None} for arm in study["arms"])
    store = json.loads((folder / "home" / "runs" / study["trials"][0]["trial"] / "config.json").read_text())["run"][
        "store"
    ]
    sizes = {arm["id"]: TrialData(store).view(arm["config"]["data"]["view"]).n for arm in study["arms"]}
    assert sizes["control"] > max(sizes["with-exclude_handicap"], sizes["with-minimum_year"])
    status, out, err = gonn("ablate", "stem_kernel_5x5", *data, "--base", "gonn-b5")
    assert status == 0 and "2 trials, 1 of them done already" in " ".join(err.split())
