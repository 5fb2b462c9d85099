"""Games as users have them: what is skipped and counted, what stops the command in one line, and that nothing is
half-done."""

import io
import lzma
import re
import tarfile
import zipfile

import pytest

from orchestration.cli import command as cli
from tests.records.sgf_tools import ROOT, numbered_game, sgf, tar_bytes, zip_bytes

HOSTILE = "\x1b[31m[red]<b>|`*x*"


@pytest.fixture
def gonn(tmp_path, monkeypatch, capsys):
    """Runs a command line in the workspace tmp_path/home; returns (code, stdout, stderr without the note on
    compiling)."""
    monkeypatch.delenv("GONN_DATA", raising=False)
    monkeypatch.setenv("GONN_HOME", str(tmp_path / "home"))

    def run(*arguments):
        code = cli.run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, "".join(line for line in err.splitlines(True) if not line.startswith("compiling "))

    return run


def stored(tmp_path) -> list:
    """Files that a build left, locks apart."""
    return [path for path in (tmp_path / "home").rglob("*") if path.is_file() and path.suffix != ".lock"]


def many_games(count: int = 60) -> dict[str, bytes]:
    return {f"{number}.sgf": numbered_game(number) for number in range(count)}


@pytest.mark.parametrize("verb", [["data", "build"], ["plan", "parametric_relu", "--data"]])
def test_no_games_at_all(gonn, tmp_path, verb):
    valid = "valid: a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob"
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no game")
    for name, problem in (
        ("gone", "no such file or folder"),
        ("empty", "no .sgf file and no archive there"),
        ("notes.txt", "no .sgf file and no archive there"),
    ):
        assert gonn(*verb, tmp_path / name) == (2, "", f"DATA={tmp_path}/{name}: {problem}; {valid}\n")
    assert stored(tmp_path) == []


def test_declared_data_that_is_not_there(gonn, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    command = ["plan", "parametric_relu", "--data", "kgs"]
    for options, where in (([], "DATA=kgs"), (["gone"], f"{tmp_path}/gone"), (["empty"], f"{tmp_path}/empty")):
        code, out, err = gonn(*command, *(word for name in options for word in ("--data-dir", tmp_path / name)))
        assert (code, out, err.count("\n")) == (2, "", 1) and err.startswith(f"{where}: ") and "KGS-<year>" in err
    monkeypatch.setenv("GONN_DATA", str(tmp_path / "empty"))
    assert gonn(*command) == (2, "", err)
    assert stored(tmp_path) == []


def test_a_truncated_archive(gonn, tmp_path):
    path = tmp_path / "games.tar.xz"
    path.write_bytes(lzma.compress(tar_bytes(many_games()))[:-400])
    code, out, err = gonn("data", "build", path)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"{path}: damaged or truncated at byte ") and "in or after member " in err
    path.write_bytes(b"no archive")
    assert gonn("data", "build", path)[2].startswith(f"{path}: damaged or truncated at byte 0 ")
    assert stored(tmp_path) == []


def test_a_line_for_all_that_is_skipped(gonn, tmp_path):
    """Escaping, linked and oversized members, illegal moves, broken syntax, hostile names: counted and named; the rest
    is used."""
    bad = {
        "../../outside.sgf": numbered_game(1000),
        "/etc/outside.sgf": numbered_game(1001),
        "oversized.sgf": sgf("B aa", ROOT + f"C[{'x' * 2**20}]"),
        "illegal.sgf": sgf("B dd W dd"),
        f"{HOSTILE}.sgf": sgf("B aa W aa"),
        "syntax.sgf": b"(;FF[4]GM[1]SZ[19]PB[b]PW[w];B[dd",
        "charset.sgf": sgf("B pd W dd B pp W dp", ROOT + "CA[klingon-8]"),
        "small.sgf": sgf("B aa", "GM[1]SZ[9]PB[b]PW[w]"),
    }
    path = tmp_path / "games.tar"
    data = io.BytesIO(tar_bytes({**many_games(), **bad}))
    with tarfile.open(fileobj=data, mode="a") as archive:
        link = tarfile.TarInfo("link.sgf")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    path.write_bytes(data.getvalue())
    code, out, err = gonn("data", "build", path)
    assert code == 0 and err == ""
    assert "\x1b" not in out
    assert [line for line in out.splitlines() if ".sgf" in line] == [
        "skipped, broken syntax: 1 (syntax.sgf)",
        "skipped, not 19x19: 1 (small.sgf)",
        "not read, too large: 1 (oversized.sgf)",
        "not read, link: 1 (link.sgf)",
        "cut before an illegal move: 2 (illegal.sgf, \\x1b[31m[red]<b>|`*x*.sgf)",
    ]
    assert (
        out.startswith("store ") and ": 65 games used, 2 skipped, 2 files not read; " in out
    )  # a strange character set is no reason to skip a game
    assert not list(tmp_path.parent.rglob("outside.sgf"))
    assert {path.name for path in tmp_path.iterdir()} == {"games.tar", "home"}


def test_an_archive_named_like_a_trap(gonn, tmp_path):
    path = tmp_path / f"{HOSTILE.replace('/', '')}.zip"
    path.write_bytes(zip_bytes(many_games(200), zipfile.ZIP_STORED))
    code, out, err = gonn("plan", "parametric_relu", "--budget", "smoke", "--data", path)
    assert (
        code == 0
        and err.startswith("NAME=parametric_relu BASE=gonn-b5 DATA=")
        and "\\x1b[31m[red]<b>|`*x*.zip BUDGET=smoke" in err
    )
    study, _, coverage = out.splitlines()[0].partition(" on ")
    assert re.fullmatch(r"study parametric_relu-gonn-b5-smoke-_x1b_31m_red__b____x_.zip-[0-9a-f]{6}", study)
    assert coverage == "\\x1b[31m[red]<b>|`*x*.zip" and "\x1b" not in out + err


def test_too_few_games_for_the_splits(gonn, tmp_path):
    (tmp_path / "one.sgf").write_bytes(numbered_game(1))
    code, out, err = gonn("plan", "parametric_relu", "--data", tmp_path / "one.sgf")
    told, line = err.splitlines()
    assert (code, out) == (2, "") and told.startswith("NAME=parametric_relu BASE=gonn-b5 ")
    assert re.fullmatch(r"data set one\.sgf: no positions for the .* among 1 games", line)
    assert not (tmp_path / "home" / "studies").exists()


def test_games_without_names_are_games(gonn, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.sgf").write_bytes(numbered_game(number, root="SZ[19]"))
    (folder / "utf16.sgf").write_bytes(numbered_game(100, root="SZ[19]").decode().encode("utf-16"))
    (folder / "nine.sgf").write_bytes(sgf("B aa", "SZ[9]"))
    (folder / "illegal.sgf").write_bytes(sgf("B dd W dd", "SZ[19]"))
    code, out, err = gonn("data", "build", folder)
    assert (code, err) == (0, "") and ": 62 games used, 1 skipped, 0 files not read; " in out
    assert [line for line in out.splitlines() if ".sgf" in line] == [
        "skipped, not 19x19: 1 (nine.sgf)",
        "cut before an illegal move: 1 (illegal.sgf)",
    ]
