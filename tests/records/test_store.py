"""From archives to an open store: contents, identity, bad games, crashes, full disks, two builders at once."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.files import arrays as array_files
from gonn_core.files.json_files import read_json
from gonn_core.files.seals import NOTE, file_digest
from gonn_core.go import layout
from gonn_core.go.points import BLACK, WHITE
from gonn_core.records import build
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.records.store import ARRAYS, MANIFEST, BuildReport, open_store, store_digest
from tests.files.damages import damaged, flipped
from tests.paths import ROOT as ROOT_OF_PROJECT
from tests.records.sgf_tools import LETTERS, ROOT, numbered_game, sgf, tar_bytes
from tests.waiting import PATIENCE

STARTER = ROOT_OF_PROJECT / "ablations" / "starter" / "gnugo-selfplay.tar.xz"


def setup_codes(store, game: int) -> np.ndarray:
    """Setup codes colour*361+point of a game in file order, (S,) int16."""
    first, count = store.games[game][["setup_first", "setup_count"]]
    return store.setup[first : first + count]


def make(tmp_path, members: dict[str, bytes], scheme="kgs"):
    archive = tmp_path / "games.tar.gz"
    archive.write_bytes(tar_bytes(members, "w:gz"))
    return prepare_store([GameSource(archive, scheme)], tmp_path / "stores")


def point(name: str) -> int:
    return LETTERS.index(name[1]) * 19 + LETTERS.index(name[0])


def finished(stores: Path) -> list[str]:
    return sorted(path.name for path in stores.iterdir() if (path / MANIFEST).exists())


def unfinished(stores: Path) -> list[str]:
    return sorted(path.name for path in stores.iterdir() if path.name.startswith(".building-"))


def stones(store, row, colour) -> set[int]:
    words = store.stones[row][:6] if colour == BLACK else store.stones[row][6:]
    return {p for p in range(361) if int(words[p >> 6]) >> (p & 63) & 1}


def test_rows_of_a_game(tmp_path):
    store = make(
        tmp_path,
        {"a/game.sgf": sgf("W dd B pass W pd", ROOT + "HA[2]AB[dp][pp]BR[3d]WR[7d]DT[2010-05-05]KM[0.5]RE[W+R]")},
    )
    game = store.games[0]
    assert store.moves.tolist() == [
        [point("dd"), -1, 0, layout.FIRST | layout.WHITE_TO_MOVE],
        [-1, -1, 1, 0],
        [point("pd"), -1, 2, layout.WHITE_TO_MOVE],
        [layout.NONE, -1, 3, layout.LAST],
    ]
    assert [stones(store, row, BLACK) for row in range(4)] == [{point("dp"), point("pp")}] * 4
    assert stones(store, 3, WHITE) == {point("dd"), point("pd")}
    assert store.game.tolist() == [0] * 4 and store.game_name(0) == "a/game.sgf"
    assert setup_codes(store, 0).tolist() == [361 + point("dp"), 361 + point("pp")]
    assert [
        int(game[field])
        for field in (
            "rows",
            "recorded_moves",
            "handicap",
            "year",
            "black_rank",
            "white_rank",
            "winner",
            "result",
            "end",
        )
    ] == [4, 3, 2, 2010, 2, 6, WHITE, layout.RESULT_RESIGN, layout.COMPLETE]
    assert game["komi"] == 0.5 and np.isnan(game["margin"])


def test_games_are_contiguous_and_cut_games_leave_no_gap(tmp_path):
    members = {
        "illegal.sgf": sgf("B aa W bb B aa W cc"),
        "twice.sgf": sgf("B aa W bb W cc B dd"),
        "free.sgf": sgf("B dd B pp W dp"),
        "empty.sgf": sgf(""),
        "last.sgf": sgf("B aa W ss"),
    }
    store = make(tmp_path, members)
    assert store.games["rows"].tolist() == [3, 3, 4, 1, 3] and store.games["recorded_moves"].tolist() == [4, 4, 3, 0, 2]
    assert store.games["first_row"].tolist() == [0, 3, 6, 10, 11]
    assert store.games["end"].tolist() == [
        layout.ILLEGAL_MOVE,
        layout.SAME_PLAYER,
        layout.COMPLETE,
        layout.COMPLETE,
        layout.COMPLETE,
    ]
    assert store.game.tolist() == np.repeat(np.arange(5), [3, 3, 4, 1, 3]).tolist()
    first = store.moves[:, layout.FLAGS] & layout.FIRST != 0
    assert np.flatnonzero(first).tolist() == store.games["first_row"].tolist()
    assert store.moves[6:8, layout.FLAGS].tolist() == [layout.FIRST | layout.HANDICAP_MOVE, layout.HANDICAP_MOVE]
    report = store.report
    assert report.cut_by_illegal_move.names == ["illegal.sgf"] and report.cut_by_second_move.names == ["twice.sgf"]
    assert (report.rows, report.positions) == (14, 2 + 2 + 1 + 0 + 2)


def test_every_bad_game_is_counted_and_named_and_the_rest_is_used(tmp_path):
    members = {
        "good.sgf": sgf("B aa"),
        "mirrored.sgf": sgf("B sa"),
        "small\x1b[31m.sgf": sgf("B aa", "SZ[9]PB[a]PW[b]"),
        "br\u202eoken.sgf": b"(;SZ[19]",
        "two.sgf": sgf("B bb") + sgf("B zz") + sgf("B cc"),
        "big.sgf": b"x" * 2_000_000,
        "notes.txt": b"",
    }
    report = make(tmp_path, members).report
    assert (report.games_read, report.games_used, report.duplicates) == (7, 4, 1)
    assert {why: tally.count for why, tally in report.skipped.items()} == {
        "not 19x19": 1,
        "broken syntax": 1,
        "bad move": 1,
    }
    assert report.skipped["bad move"].names == ["two.sgf#2"]
    assert {why: tally.names for why, tally in report.ignored.items()} == {
        "too large": ["big.sgf"],
        "not an SGF file": ["notes.txt"],
    }
    text = report.render_text()
    assert "small\\x1b[31m.sgf" in text and "\x1b" not in text and "\u202e" not in text
    assert "skipped, bad move: 1 (two.sgf#2)" in text
    assert BuildReport.from_json(json.loads(json.dumps(asdict(report)))) == report


def test_no_usable_game_is_an_error_and_leaves_nothing(tmp_path):
    with pytest.raises(UserError, match="no usable game.*1 not 19x19.*1 not an SGF file"):
        make(tmp_path, {"a.sgf": sgf("", "SZ[9]"), "b.txt": b""})
    assert finished(tmp_path / "stores") == [] and unfinished(tmp_path / "stores") == []
    with pytest.raises(UserError, match="no source files"):
        prepare_store([], tmp_path / "stores")
    with pytest.raises(InputError, match="gone.tar"):
        prepare_store([GameSource(tmp_path / "gone.tar")], tmp_path / "stores")


NAMELESS = {
    "anonymous.sgf": numbered_game(50, root="SZ[19]"),
    "wide.sgf": numbered_game(51, root="SZ[19]PB[\u9ed2]PW[\u767d]").decode().encode("utf-16"),
    "again.sgf": numbered_game(1, root="SZ[19]"),
}


def test_collections_with_names_make_the_store_that_they_made_before_anonymous_games_were_games(tmp_path):
    """Its digest and the name of its sources were written down before: declared data sets (KGS, GoGoD, the bundled
    games) are read as ever."""
    games = {f"{i}.sgf": numbered_game(i) for i in range(5)}
    store = make(tmp_path, games | NAMELESS)
    assert (store.digest, store.made_from.key) == ("9accfefda9372833b831", "59ae7103dc0ceb934ffc")
    assert store.report.skipped["PB is missing"].names == ["anonymous.sgf", "again.sgf"]
    assert store.report.skipped["broken syntax"].names == ["wide.sgf"]


def test_a_store_that_is_found_tells_of_the_files_that_it_was_found_for(tmp_path):
    games = {f"{i}.sgf": numbered_game(i) for i in range(5)}
    first = make(tmp_path, games)
    second = make(tmp_path, games | {"bad.sgf": b""})
    assert second.digest == first.digest and second.report.skipped["broken syntax"].names == ["bad.sgf"]
    found = make(tmp_path, games | {"bad.sgf": b""})
    assert found.report == second.report and not make(tmp_path, games).report.skipped


def test_identity_is_the_contents(tmp_path):
    games = {f"{i}.sgf": numbered_game(i) for i in range(20)}
    for name, suffix, mode in (("one", "tar", "w"), ("two", "tar.xz", "w:xz")):
        (tmp_path / f"{name}.{suffix}").write_bytes(tar_bytes(games, mode))
    one = prepare_store([GameSource(tmp_path / "one.tar")], tmp_path / "stores")
    two = prepare_store([GameSource(tmp_path / "two.tar.xz")], tmp_path / "stores")
    assert one.digest == two.digest and len(one.digest) == 20 and finished(tmp_path / "stores") == [one.digest]
    (tmp_path / "other.tar").write_bytes(tar_bytes(games | {"3.sgf": numbered_game(99)}))
    assert prepare_store([GameSource(tmp_path / "other.tar")], tmp_path / "stores").digest != one.digest


def test_the_same_sources_are_found_without_building(tmp_path, monkeypatch):
    first = make(tmp_path, {"a.sgf": sgf("B aa", ROOT + "BR[9d]")})
    monkeypatch.setattr(build, "_build", lambda *_: pytest.fail("built again"))
    assert make(tmp_path, {"a.sgf": sgf("B aa", ROOT + "BR[9d]")}).digest == first.digest
    monkeypatch.undo()
    professional = make(tmp_path, {"a.sgf": sgf("B aa", ROOT + "BR[9d]")}, scheme="gogod")
    assert professional.digest != first.digest and professional.games["black_rank"][0] == layout.PROFESSIONAL + 8


def test_batches_do_not_show_in_the_store(tmp_path, monkeypatch):
    games = {f"{i}.sgf": numbered_game(i, 20) for i in range(30)}
    whole = make(tmp_path / "a", games) if (tmp_path / "a").mkdir() is None else None
    monkeypatch.setattr("gonn_core.records.batches.ROWS_PER_BATCH", 50)
    (tmp_path / "b").mkdir()
    assert make(tmp_path / "b", games).digest == whole.digest


def test_progress_goes_from_nothing_to_everything(tmp_path):
    (tmp_path / "a.tar").write_bytes(tar_bytes({f"{i}.sgf": numbered_game(i) for i in range(600)}))
    seen = []
    prepare_store([GameSource(tmp_path / "a.tar")], tmp_path / "stores", seen.append)
    assert [step.games for step in seen] == [256, 512, 600] and seen[-1].fraction == 1 and seen[-1].rows == 5400
    assert all(a.fraction <= b.fraction for a, b in pairwise(seen))


@pytest.mark.parametrize("where", ["append", "close", "manifest"])
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, monkeypatch, where):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if where == "manifest":
        monkeypatch.setattr(build, "write_whole", full)
    else:
        monkeypatch.setattr(array_files.GrowingArray, where, full)
    with pytest.raises(UserError, match="no space left") as caught:
        make(tmp_path, {"a.sgf": sgf("B aa")})
    assert "\n" not in str(caught.value) and finished(tmp_path / "stores") == unfinished(tmp_path / "stores") == []


BUILDER = (
    "import sys, os, time\nfrom pathlib import Path\n"
    "from gonn_core.records.build import GameSource, prepare_store\n"
    "def report(step):\n"
    "    print('step', flush=True)\n"
    "    time.sleep(float(sys.argv[3]))\n"
    "print(prepare_store([GameSource(Path(sys.argv[1]))], Path(sys.argv[2]), report).digest, flush=True)\n"
)


def builder(stores, pause) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(STARTER), str(stores), str(pause)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT_OF_PROJECT,
    )


@pytest.mark.system
def test_a_killed_build_looks_unfinished_and_is_swept(tmp_path):
    process = builder(tmp_path, 1000)
    assert process.stdout.readline() == "step\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = unfinished(tmp_path)
    assert len(left) == 1 and finished(tmp_path) == []
    assert not (tmp_path / left[0] / MANIFEST).exists()
    with pytest.raises(InputError, match="no position store"):
        open_store(tmp_path / left[0])
    store = prepare_store([GameSource(STARTER)], tmp_path)
    assert unfinished(tmp_path) == [] and finished(tmp_path) == [store.digest]


@pytest.mark.system
def test_two_builds_at_once_make_one_store(tmp_path):
    processes = [builder(tmp_path, 0.3) for _ in range(2)]
    out = [process.communicate(timeout=PATIENCE)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert out[0][-1] == out[1][-1] and finished(tmp_path) == [out[0][-1]] and unfinished(tmp_path) == []
    assert sorted(len(words) for words in out)[0] == 1  # one built, the other waited and found it


def test_a_source_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(tar_bytes({f"{i}.sgf": numbered_game(i) for i in range(300)}))
    with pytest.raises(InputError, match="changed while it was read"):
        prepare_store([GameSource(path)], tmp_path / "stores", lambda _: os.utime(path, (0, 0)))
    assert finished(tmp_path / "stores") == []


def test_a_store_of_another_format_is_one_line(tmp_path):
    folder = make(tmp_path, {"a.sgf": sgf("B aa")}).folder
    (folder / MANIFEST).write_text(json.dumps(read_json(folder / MANIFEST) | {"format": 99}))
    with pytest.raises(InputError, match="format 99"):
        open_store(folder)
    (folder / MANIFEST).unlink()
    with pytest.raises(InputError, match="no position store"):
        open_store(folder)


@pytest.mark.parametrize("name", ["stones.npy", "names.bin", MANIFEST])
@pytest.mark.parametrize("damage", [0, 1, 2], ids=["flipped", "cut", "empty"])
def test_a_damaged_store_is_built_again_where_its_archives_are(tmp_path, caplog, name, damage):
    caplog.set_level("INFO")
    games = {f"{i}.sgf": numbered_game(i) for i in range(20)} | {"setup.sgf": sgf("B aa", "AB[dd][pp]")}
    store = make(tmp_path, games)
    path, whole = store.folder / name, (store.folder / name).read_bytes()
    path.write_bytes(list(damaged(whole))[damage])
    with pytest.raises(Damaged, match=rf"{name}: .*damaged.*makes it again"):
        open_store(store.folder)
    again = prepare_store([GameSource(tmp_path / "games.tar.gz")], tmp_path / "stores")
    assert again.digest == store.digest and f"{name}: damaged" in caplog.text and "it is built again" in caplog.text
    assert path.read_bytes() == whole or name == MANIFEST  # which tells how long it took
    (store.folder / MANIFEST).unlink()
    assert prepare_store([GameSource(tmp_path / "games.tar.gz")], tmp_path / "stores").digest == store.digest
    assert unfinished(tmp_path / "stores") == []


def test_a_store_is_read_whole_once_and_for_all_processes(tmp_path, monkeypatch):
    folder = make(tmp_path, {"a.sgf": sgf("B aa")}).folder
    reads = []

    def counted(path, skipped):
        reads.append(path.name)
        return file_digest(path, skipped)

    monkeypatch.setattr("gonn_core.records.store.file_digest", counted)
    open_store(folder)
    assert reads == []  # when it was built
    (folder / NOTE).write_bytes(flipped((folder / NOTE).read_bytes()))
    open_store(folder)
    assert sorted(reads) == sorted(ARRAYS)
    open_store(folder)
    os.utime(folder / "moves.npy", (0, 0))
    open_store(folder)
    assert len(reads) == len(ARRAYS) + 1
    monkeypatch.setattr("gonn_core.files.seals._boot", lambda: "another machine, or this one after a restart")
    open_store(folder)
    assert len(reads) == 2 * len(ARRAYS) + 1
    monkeypatch.undo()
    assert len(json.loads((folder / NOTE).read_bytes())) == 2 * len(ARRAYS) + 1  # with its seal


@pytest.mark.parametrize("name", ["moves.npy", "names.bin"])
@pytest.mark.parametrize("rotten", [False, True])
def test_a_bit_that_flips_is_found_where_size_and_time_are_kept(tmp_path, monkeypatch, name, rotten):
    """At once where a program flipped it, for it cannot set back the time of the inode; the next day where the disk
    did (here: a clock a day ahead, and no time of the inode)."""
    if rotten:
        monkeypatch.setattr("gonn_core.files.seals._stamp", lambda path: [path.stat().st_size])
    games = {"a.sgf": sgf("B aa W bb", ROOT + "AB[dd][pp]"), "b.sgf": sgf("B cc")}
    folder = make(tmp_path, games).folder
    about = (folder / name).stat()
    (folder / name).write_bytes(flipped((folder / name).read_bytes(), -1))
    os.utime(folder / name, ns=(about.st_atime_ns, about.st_mtime_ns))
    if rotten:
        open_store(folder)
        day_later = time.time() + 86400
        monkeypatch.setattr("gonn_core.files.seals.time", SimpleNamespace(time=lambda: day_later))
    with pytest.raises(Damaged, match=name):
        open_store(folder)
    prepare_store([GameSource(tmp_path / "games.tar.gz")], tmp_path / "stores")
    open_store(folder)


@pytest.mark.parametrize(
    "name, change",
    [
        ("stones.npy", lambda stones: stones[2].__setitem__(5, 1 << 41)),
        ("stones.npy", lambda stones: stones[2].__setitem__(slice(0, 12, 6), 1)),
        ("ladders.npy", lambda ladders: ladders[1].__setitem__(5, 1 << 63)),
        ("moves.npy", lambda moves: moves[0].__setitem__(layout.MOVE, 361)),
        ("moves.npy", lambda moves: moves[0].__setitem__(layout.MOVE, -3)),
        ("moves.npy", lambda moves: moves[1].__setitem__(layout.KO, 361)),
        ("moves.npy", lambda moves: moves[0].__setitem__(layout.FLAGS, 0)),
        ("moves.npy", lambda moves: moves[-1].__setitem__(layout.FLAGS, 0)),
        ("game.npy", lambda game: game.__setitem__(0, 2)),
        ("game.npy", lambda game: game.__setitem__(0, 1)),
        ("games.npy", lambda games: games["first_row"].__setitem__(1, -1)),
        ("games.npy", lambda games: games["rows"].__setitem__(1, 1 << 30)),
        ("games.npy", lambda games: games["setup_count"].__setitem__(0, 3)),
        ("games.npy", lambda games: games["name_first"].__setitem__(0, -1)),
        ("games.npy", lambda games: games["source"].__setitem__(0, 1)),
        ("setup.npy", lambda setup: setup.__setitem__(0, 3 * 361)),
        ("setup.npy", lambda setup: setup.__setitem__(0, -1)),
    ],
)
def test_numbers_that_kernels_index_with_are_in_range(tmp_path, name, change):
    """Also where the digests fit: kernels test no bounds."""
    games = {"a.sgf": sgf("B aa W bb", ROOT + "AB[dd][pp]"), "b.sgf": sgf("B cc")}
    folder = make(tmp_path, games).folder
    array = np.load(folder / name)
    change(array)
    np.save(folder / name, array)
    manifest = read_json(folder / MANIFEST)
    manifest["arrays"][name]["sha256"] = hashlib.sha256(array.tobytes()).hexdigest()
    manifest["digest"] = store_digest(manifest["arrays"])
    (folder / MANIFEST).write_text(json.dumps(manifest))
    for _ in range(2):
        with pytest.raises(Damaged, match="numbers out of range"):
            open_store(folder)


@pytest.mark.parametrize(
    "index", ["", "[]", "null", '{"digest": 5}', '{"digest": "../elsewhere"}', '{"digest": "00000000000000000000"}']
)
def test_an_index_that_leads_nowhere_is_written_anew(tmp_path, index):
    digest = make(tmp_path, {"a.sgf": sgf("B dd W pp")}).digest
    (path,) = (tmp_path / "stores" / "index").glob("*.json")
    (tmp_path / "elsewhere").mkdir()
    path.write_text(index)
    again = prepare_store([GameSource(tmp_path / "games.tar.gz")], tmp_path / "stores")
    assert again.digest == digest and read_json(path)["digest"] == digest
    assert unfinished(tmp_path / "stores") == []
