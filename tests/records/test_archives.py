"""Archives as streams: order, what is passed over, what stops with one line, and what never happens."""

import io
import lzma
import os
import random
import struct
import tarfile
import zipfile

import pytest

from gonn_core.errors import InputError
from gonn_core.records.archives import ArchiveReading
from gonn_core.records.archives import members as zip_archives
from gonn_core.records.archives.members import find_sources, read_members
from tests.records.sgf_tools import numbered_game, tar_bytes, zip_bytes

GAMES = {f"kgs/{i}.sgf": numbered_game(i, 60) for i in (3, 1, 2)}
FORMATS = {
    ".tar": lambda m: tar_bytes(m), ".tar.gz": lambda m: tar_bytes(m, "w:gz"), ".tgz": lambda m: tar_bytes(m, "w:gz"),
    ".tar.bz2": lambda m: tar_bytes(m, "w:bz2"), ".tar.xz": lambda m: tar_bytes(m, "w:xz"), ".zip": zip_bytes,
}  # fmt: skip


def write(path, data: bytes):
    path.write_bytes(data)
    return path


def read(path, **limits) -> tuple[dict[str, bytes], ArchiveReading]:
    reading = ArchiveReading(**limits)
    return {member.name: member.data for member in read_members(path, reading)}, reading


def ignored(reading: ArchiveReading) -> dict[str, int]:
    return {why: games.count for why, games in reading.ignored.items()}


@pytest.mark.parametrize("suffix", FORMATS)
def test_members_come_in_archive_order(tmp_path, suffix):
    members, reading = read(write(tmp_path / f"a{suffix}", FORMATS[suffix](GAMES)))
    assert list(members.items()) == list(GAMES.items()) and reading.members == 3 and not reading.ignored


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("part", [0.3, 0.7, 0.95])
def test_a_truncated_archive_names_file_and_place(tmp_path, suffix, part):
    noise = {f"{i}.sgf": random.Random(i).randbytes(5000) for i in range(40)}
    data = FORMATS[suffix](noise)
    path = write(tmp_path / f"cut{suffix}", data[: int(len(data) * part)])
    with pytest.raises(InputError) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text and "truncated" in text and "\n" not in text
    if suffix != ".zip":
        assert "byte" in text


@pytest.mark.parametrize("suffix", [*FORMATS, ".sgf"])
@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"not an archive at all" * 100])
def test_no_archive_at_all(tmp_path, suffix, data):
    path = write(tmp_path / f"a{suffix}", data)
    if suffix == ".sgf":
        assert read(path)[0] == {"a.sgf": data}  # the SGF reader will count it
    else:
        with pytest.raises(InputError, match="a" + suffix.replace(".", r"\.")):
            read(path)


@pytest.mark.parametrize("suffix", [".tar.gz", ".zip"])
def test_damage_inside_is_found(tmp_path, suffix):
    data = bytearray(FORMATS[suffix]({"a.sgf": os.urandom(4000)}))
    data[2000] ^= 0xFF
    with pytest.raises(InputError, match="damaged"):
        read(write(tmp_path / f"a{suffix}", bytes(data)))


@pytest.mark.parametrize("suffix", FORMATS)
def test_escaping_names_are_only_names(tmp_path, suffix):
    names = ["../up.sgf", "/abs.sgf", "a/../../b.sgf", "c\x1b[31m.sgf", "\u202eevil.sgf", "x" * 300 + ".sgf"]
    inside = tmp_path / "inside"
    inside.mkdir()
    members, _ = read(write(inside / f"a{suffix}", FORMATS[suffix]({name: b"(;)" for name in names})))
    assert list(members) == names
    assert [path.name for path in tmp_path.rglob("*")] == ["inside", f"a{suffix}"]


def special_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        kinds = {
            "folder": tarfile.DIRTYPE,
            "link.sgf": tarfile.SYMTYPE,
            "hard.sgf": tarfile.LNKTYPE,
            "null.sgf": tarfile.CHRTYPE,
            "pipe.sgf": tarfile.FIFOTYPE,
        }
        for name, kind in kinds.items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        for name, data in [("nested.tar.gz", b"x"), ("inner.zip", b"x"), ("notes.txt", b"x"), ("good.sgf", b"(;)")]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def test_links_devices_and_nested_archives_are_passed_over(tmp_path):
    members, reading = read(write(tmp_path / "a.tar", special_tar()))
    assert members == {"good.sgf": b"(;)"}
    assert ignored(reading) == {"link": 2, "device": 2, "nested archive": 2, "not an SGF file": 1}
    assert reading.ignored["link"].names == ["link.sgf", "hard.sgf"]


def test_links_encryption_and_methods_in_zip_are_passed_over(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link.sgf")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("odd.sgf", b"(;)", zipfile.ZIP_LZMA)
        archive.writestr("dir/", b"")
        archive.writestr("secret.sgf", b"(;)")
        archive.writestr("good.sgf", b"(;)")
    data = bytearray(out.getvalue())
    entry = data.rindex(b"PK\1\2", 0, data.rindex(b"secret.sgf"))
    data[entry + 8] |= 1
    members, reading = read(write(tmp_path / "a.zip", bytes(data)))
    assert members == {"good.sgf": b"(;)"}
    assert ignored(reading) == {"link": 1, "unsupported compression": 1, "encrypted": 1}


@pytest.mark.parametrize("suffix", FORMATS)
def test_oversized_members_are_skipped_by_name(tmp_path, suffix):
    path = write(tmp_path / f"a{suffix}", FORMATS[suffix]({"big.sgf": b"x" * ((1 << 20) + 1), "good.sgf": b"(;)"}))
    members, reading = read(path)
    assert (
        members == {"good.sgf": b"(;)"}
        and ignored(reading) == {"too large": 1}
        and reading.ignored["too large"].names == ["big.sgf"]
    )


def test_a_zip_that_lies_about_sizes_is_bounded(tmp_path):
    data = bytearray(zip_bytes({"bomb.sgf": b"\0" * (8 << 20), "good.sgf": b"(;)"}))
    directory = data.rindex(b"PK\1\2", 0, data.rindex(b"bomb.sgf"))
    struct.pack_into("<L", data, directory + 24, 100)
    with pytest.raises(InputError, match="damaged"):
        read(write(tmp_path / "a.zip", bytes(data)))


def test_limits_over_everything(tmp_path):
    path = write(
        tmp_path / "a.tar.gz",
        tar_bytes({f"{i}.sgf": b"(;)" for i in range(50)} | {"bomb.bin": b"\0" * (4 << 20)}, "w:gz"),
    )
    with pytest.raises(InputError, match="more than 40 members"):
        read(path, max_members=40)
    with pytest.raises(InputError, match="GiB uncompressed"):
        read(path, max_total_bytes=1 << 20)


def test_extended_headers_are_bounded(tmp_path):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 40
    with pytest.raises(InputError, match="extended header"):
        read(write(tmp_path / "a.tar", info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096))


def test_names_of_both_long_kinds(tmp_path):
    name = "d/" * 120 + "game.sgf"
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as archive:
            for n in (name, "short.sgf"):
                info = tarfile.TarInfo(n)
                info.size = 3
                archive.addfile(info, io.BytesIO(b"(;)"))
        assert list(read(write(tmp_path / "a.tar", out.getvalue()))[0]) == [name, "short.sgf"]


def test_xz_memory_is_bounded(tmp_path, monkeypatch):
    path = write(
        tmp_path / "a.tar.xz",
        lzma.compress(tar_bytes(GAMES), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28}]),
    )
    with pytest.raises(InputError, match="memory limit of the xz decoder"):
        read(path)


def test_a_big_zip_directory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(zip_archives, "_MAX_DIRECTORY", 100)
    with pytest.raises(InputError, match="zip directory"):
        read(write(tmp_path / "a.zip", zip_bytes(GAMES)))


def test_tar_headers_with_bad_sizes(tmp_path):
    info = tarfile.TarInfo("a.sgf")
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\xff" * 12  # a negative size in base 256
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    with pytest.raises(InputError, match="header"):
        read(write(tmp_path / "a.tar", bytes(block) + bytes(1024)))


def test_a_folder_is_read_in_order_of_names_without_following_links(tmp_path):
    folder = tmp_path / "games"
    (folder / "b").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside" / "x.sgf", b"(;)")
    for name in ("c.sgf", "a.SGF", "b/1.sgf", "notes.txt", "nested.rar"):
        write(folder / name, name.encode())
    write(folder / "b" / "more.tar", tar_bytes(GAMES))
    os.symlink(tmp_path / "outside", folder / "link")
    os.symlink(tmp_path / "outside" / "x.sgf", folder / "link.sgf")
    os.mkfifo(folder / "pipe.sgf")
    members, reading = read(folder)
    assert list(members) == ["a.SGF", "c.sgf", "b/1.sgf"]
    assert ignored(reading) == {"link": 2, "device": 1, "not an SGF file": 1, "nested archive": 1}
    assert find_sources(folder) == [folder, folder / "b" / "more.tar"]
    assert find_sources(str(tmp_path / "games" / "*.sgf"))[0].name == "c.sgf"


def with_pax(records: bytes) -> bytes:
    """A tar archive whose only game has an extended header of these bytes."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, len(records)
    return header.tobuf(tarfile.GNU_FORMAT) + records + b"\0" * (-len(records) % 512) + tar_bytes({"a.sgf": b"(;)"})


@pytest.mark.parametrize("size", ["²", "9" * 5000, "-1", "0x10"])
def test_bad_sizes_in_extended_headers(tmp_path, size):
    record = f" size={size}\n".encode()
    length = len(record) + len(str(len(record) + 4))
    with pytest.raises(InputError, match="a bad size in an extended header"):
        read(write(tmp_path / "a.tar", with_pax(str(length).encode() + record)))


def test_bad_lengths_in_extended_headers(tmp_path):
    assert read(write(tmp_path / "a.tar", with_pax(b"9" * 5000 + b" path=b.sgf\n")))[0] == {"a.sgf": b"(;)"}


@pytest.mark.parametrize("suffix", [".tar", ".zip"])
def test_names_in_errors_cannot_steer_a_terminal(tmp_path, suffix):
    data = FORMATS[suffix]({"\x1b[2J\x07a.sgf": b"(;)" + bytes(3000), "b.sgf": b"(;)" + bytes(3000)})
    spoilt = data[:2000] if suffix == ".tar" else data.replace(b"PK\3\4", b"XX\3\4", 1)
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / f"a{suffix}", spoilt))
    assert "\x1b" not in str(caught.value) and "\\x1b[2J\\x07a.sgf" in str(caught.value)
