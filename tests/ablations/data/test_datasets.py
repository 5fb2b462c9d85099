"""Data sets: declarations, where their files are found, what is missing, and data prepared in one call."""

from pathlib import Path

import pytest

from ablations.data.datasets import dataset_label, lacks, load_dataset, prepare, training_view
from ablations.data.schema import DECLARATIONS, dataset_names, read_declaration
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.settings.data import GamesConfig
from tests.paths import SHARED
from tests.records.sgf_tools import ROOT, numbered_game, tar_bytes, zip_bytes
from tests.trial.helpers import starter_data


def year_archive(folder: Path, name: str, year: int, games=range(3), ranks="BR[6d]WR[6d]") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    members = {f"{year}/{i}.sgf": numbered_game(1000 * year + i, root=f"{ROOT}DT[{year}-02-03]{ranks}") for i in games}
    path = folder / name
    path.write_bytes(
        zip_bytes(members) if name.endswith(".zip") else tar_bytes(members, "w:gz" if name.endswith("gz") else "w")
    )
    return path


@pytest.fixture
def kgs(tmp_path) -> Path:
    folder = tmp_path / "data"
    year_archive(folder / "kgs", "KGS-2001-19-3-.tar.gz", 2001)
    year_archive(folder / "elsewhere" / "deep", "kgs-2006-19-3-.zip", 2006)
    year_archive(folder / "kgs", "KGS-2015-19-3-.tar.gz", 2015)
    year_archive(folder / "kgs", "KGS-2017_01-19-3-.tar", 2017)
    year_archive(folder / "kgs", "KGS-2017_02-19-3-.tar", 2017, range(3, 6))
    year_archive(folder / "kgs", "KGS-2016-19-3-.tar", 2016)
    (folder / "kgs" / "KGS-2002-19-3-.tar.gz.part").write_bytes(b"half")
    return folder


def test_every_declaration_is_valid():
    assert dataset_names() == ["gogod", "gogod-1800", "gogod-1995", "kgs", "kgs+tom", "starter"]
    for path in DECLARATIONS.glob("*.yaml"):
        assert read_declaration(path).name == path.stem


def test_the_published_kgs_split():
    kgs = read_declaration(DECLARATIONS / "kgs.yaml")
    assert (kgs.filter.min_rank, kgs.filter.max_handicap) == (5, 0)
    assert [kgs.split(split).years for split in ("train", "validation", "test")] == [
        (2000, 2014),
        (2017, 2017),
        (2015, 2015),
    ]


def test_years_and_months_are_found_and_missing_ones_named(kgs):
    dataset = load_dataset("kgs", kgs)
    names = [source.path.name for source in dataset.sources]
    assert sorted(names, key=str.lower) == [
        "KGS-2001-19-3-.tar.gz",
        "kgs-2006-19-3-.zip",
        "KGS-2015-19-3-.tar.gz",
        "KGS-2017_01-19-3-.tar",
        "KGS-2017_02-19-3-.tar",
    ]
    assert dataset.coverage == "kgs, 2 of 15 training years (missing 2000, 2002, 2003, 2004, 2005, 2007 and 7 more)"
    assert len(dataset.missing) == 13 and "KGS-2000[-_]*" in dataset.missing


def test_prepared_data(kgs, tmp_path):
    data = prepare(load_dataset("kgs", kgs), tmp_path / "stores")
    assert {split: view.n for split, view in data.views.items()} == {"train": 48, "validation": 48, "test": 24}
    assert data.report.games_used == 15 and data.coverage.startswith("kgs, 2 of 15")
    again = prepare(load_dataset("kgs", kgs), tmp_path / "stores")
    assert again.views["train"].digest == data.views["train"].digest and again.store.digest == data.store.digest


def test_a_demanded_split_without_positions_is_an_error(kgs, tmp_path):
    for path in (kgs / "kgs").glob("KGS-2017*"):
        path.unlink()
    dataset = load_dataset("kgs", kgs)
    with pytest.raises(UserError) as caught:
        prepare(dataset, tmp_path / "stores")
    text = str(caught.value)
    assert (
        "no positions for the validation split (years 2017-2017, min_rank 5, max_handicap 0)" in text
        and "no files match" in text
        and "\n" not in text
    )
    assert prepare(dataset, tmp_path / "stores", demanded=("train", "test")).views["test"].n == 24


def test_two_collections(kgs, tmp_path):
    with pytest.raises(InputError, match="kgs.tom needs archives named tom-9d"):
        load_dataset("kgs+tom", kgs)
    year_archive(kgs / "tom", "tom-9d.tar.gz", 2005, range(10), "BR[9d]WR[9d]")
    dataset = load_dataset("kgs+tom", kgs)
    assert dataset.coverage.startswith("kgs, 2 of 15") and dataset.coverage.endswith(" + tom")
    assert prepare(dataset, tmp_path / "stores").views["train"].n == 48 + 80
    assert dataset.sources[-1].label == "tom"


def test_gogod_is_a_folder_and_its_players_professionals(tmp_path):
    folder = tmp_path / "data" / "GoGoD" / "1995"
    folder.mkdir(parents=True)
    for i in range(60):
        (folder / f"{i}.sgf").write_bytes(numbered_game(i, root=f"{ROOT}DT[1995-01-01]BR[9d]WR[Ama 6d]"))
    year_archive(tmp_path / "data" / "GoGoD", "2015.zip", 2015)
    data = prepare(load_dataset("gogod", tmp_path / "data"), tmp_path / "stores")
    assert data.store.games["black_rank"][0] == 108 and data.store.games["white_rank"][0] == 5
    assert {split: bool(view.n) for split, view in data.views.items()} == {
        "train": True,
        "validation": True,
        "test": True,
    }
    assert load_dataset("gogod", tmp_path / "data" / "GoGoD").sources == data.dataset.sources


@pytest.mark.parametrize("where", ["folder", "archive", "glob"])
def test_any_path_is_a_data_set_split_by_hashed_game(tmp_path, where):
    year_archive(tmp_path / "my games", "all.tar.gz", 2010, range(200))
    path = {"folder": "my games", "archive": "my games/all.tar.gz", "glob": "my*/*.tar.gz"}[where]
    dataset = load_dataset(str(tmp_path / path))
    data = prepare(dataset, tmp_path / "stores")
    counts = {split: view.n for split, view in data.views.items()}
    assert sum(counts.values()) == 1600 and counts["train"] > 1100 and min(counts.values()) > 60


@pytest.mark.parametrize(
    "given, label", [("kgs", "kgs"), ("/my/kgs", "kgs (path)"), ("/my/games", "games"), ("own.zip", "own.zip")]
)
def test_studies_call_a_data_set_by_its_name_or_the_last_part_of_its_path(given, label):
    assert dataset_label(given) == label


@pytest.mark.parametrize(
    "name, data_dir, problem",
    [
        ("kgss", None, "DATA=kgss: not a known data set, and no such file or folder; valid: gogod, "),
        ("./nowhere", None, "no such file or folder"),
        ("kgs", None, "no data folder given; it must hold archives named KGS-<year>"),
        ("kgs", "nowhere", "no such data folder"),
        ("kgs", "empty", "needs archives named KGS-<year>\\* for 2000-2014, 2017, 2015"),
        ("gogod", "empty", "needs a folder gogod"),
        ("path", None, "not a known data set"),
        ("empty", None, "no .sgf file and no archive there"),
        ("\x1b[31m", None, "x1b"),
    ],
)
def test_missing_data_is_one_line(tmp_path, monkeypatch, name, data_dir, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=problem) as caught:
        load_dataset(name, data_dir)
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


GOOD = """
name: mine
title: t
document: d
sources: [{label: x, files: ["*"]}]
splits: {train: {hashed: [0, 0.5]}, validation: {hashed: [0.5, 0.6]}, test: {years: [2000, 2001]}}
"""


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ("title: t", "title: t\ntitel: t", "mine.titel=t: no such setting"),
        ("name: mine", "name: other", "mine.name=other: not the name of its file"),
        ("[0.5, 0.6]", "[0.6, 0.5]", "a range from low to high"),
        ("[0.5, 0.6]", "[0.5, 1.6]", "1.6"),
        ("[2000, 2001]", "[20, 2001]", "20"),
        ("test: {years: [2000, 2001]}", "test: {}", "needs years, hashed or positions"),
        (', files: ["*"]', "", "exactly one of files, folder, bundled, given"),
        ("label: x", "label: x, rank_scheme: egf", "'kgs' or 'gogod'"),
        ("title: t", "title: t\nfilter: {min_rank: 6d}", "min_rank=6d"),
        ("title: t", "title: &a t\nfilter: *a", "anchors|aliases"),
    ],
)
def test_bad_declarations_are_one_line(tmp_path, old, new, problem):
    assert read_file(tmp_path, GOOD).name == "mine"
    with pytest.raises((SettingError, InputError), match=problem) as caught:
        read_file(tmp_path, GOOD.replace(old, new))
    assert "\n" not in str(caught.value)


def read_file(folder: Path, text: str):
    (folder / "mine.yaml").write_text(text)
    return read_declaration(folder / "mine.yaml")


def test_the_starter_set():
    data = starter_data()
    assert data.coverage == "starter"
    counts = {split: view.n for split, view in data.views.items()}
    assert counts["train"] > 250_000 and counts["validation"] > 12_000 and counts["test"] > 25_000


@pytest.mark.system
def test_published_filter_on_the_real_test_year(tmp_path):
    """954,190 positions by movers of 6d or stronger in even games of KGS 2015, less two of a game that is there
    twice."""
    if not (SHARED / "data" / "kgs").is_dir():
        pytest.skip("the KGS archives are not beside the project")
    dataset = load_dataset("kgs", SHARED / "data")
    wanted = [source for source in dataset.sources if "2015" in source.path.name]
    data = prepare(type(dataset)(dataset.declaration, "kgs", tuple(wanted), (), "kgs"), tmp_path, demanded=("test",))
    assert (data.report.positions, data.views["test"].n) == (1_597_641, 954_188)


def test_what_a_rule_asks_and_games_do_not_say_is_named_in_its_words(kgs, tmp_path):
    year_archive(kgs / "kgs", "KGS-2003-19-3-.tar", 2003, ranks="WR[6d]")
    year_archive(kgs / "kgs", "KGS-2004-19-3-.tar", 2004, ranks="BR[Honinbo]WR[9p]DT[?]")
    prepared = prepare(load_dataset("kgs", kgs), tmp_path / "stores")
    assert lacks(prepared) == [
        "moves left out, min_rank: BR is missing: 3 (2003/0.sgf, 2003/1.sgf, 2003/2.sgf)",
        "moves left out, min_rank: BR is no rank: 3 (2004/0.sgf, 2004/1.sgf, 2004/2.sgf)",
    ]
    path = tmp_path / "own.tar"
    path.write_bytes(tar_bytes({f"{number}.sgf": numbered_game(number, root="SZ[19]") for number in range(50)}))
    own = prepare(load_dataset(str(path)), tmp_path / "stores")
    assert lacks(own) == []
    with pytest.raises(UserError) as caught:
        training_view(own, GamesConfig(min_rank=5))
    assert str(caught.value) == (
        "data set own.tar: no training positions with min_rank 5; min_rank: BR is missing in 50 of 50 games; "
        "min_rank: WR is missing in 50 of 50 games"
    )
    with pytest.raises(UserError, match="min_year: DT has no year in 50 of 50 games"):
        training_view(own, GamesConfig(min_year=1900))
