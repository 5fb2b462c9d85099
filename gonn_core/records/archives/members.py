"""Sources of games: the files that a path stands for, and the game files in one of them, in a fixed order."""

import glob
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from gonn_core.errors import InputError, SettingError
from gonn_core.records.archives import ARCHIVE_SUFFIXES, ArchiveReading, Member
from gonn_core.records.archives.tar import read_tar

_MAX_DIRECTORY = 32 << 20
"""zipfile holds the whole central directory as objects: this bounds it to a few hundred thousand members."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # LZMA's memory cannot be bounded here
_ENCRYPTED = 1
_END, _END_64_LOCATOR = b"PK\5\6", b"PK\6\7"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, struct.error)


def read_zip(path: Path, reading: ArchiveReading) -> Iterator[Member]:
    """Game files of a zip archive in the order of its directory. Raises InputError."""
    if _directory_bytes(path) > _MAX_DIRECTORY:
        raise InputError(
            path, f"a zip directory of more than {_MAX_DIRECTORY >> 20} MiB; use a tar archive for so many games"
        )
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise InputError(path, f"damaged or truncated zip archive ({error})") from None
    with archive:
        members = archive.infolist()
        for i, info in enumerate(members):
            reading.fraction = i / len(members)
            reading.add_member(path)
            name, mode = info.filename, info.external_attr >> 16
            if info.is_dir():
                continue
            if stat.S_ISLNK(mode):
                reading.ignore("link", name)
            elif mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                reading.ignore("device", name)
            elif info.flag_bits & _ENCRYPTED:
                reading.ignore("encrypted", name)
            elif info.compress_type not in _METHODS:
                reading.ignore("unsupported compression", name)
            elif reading.wants(name, info.file_size):
                try:
                    with archive.open(info) as file:
                        yield from reading.bounded(path, name, file)
                except _BROKEN as error:
                    where = f"byte {info.header_offset:,}, member {name}"
                    raise InputError(path, f"damaged or truncated at {where} ({error})") from None


def _directory_bytes(path: Path) -> int:
    """Size of the central directory that the end record claims, which zipfile will read; 0 when there is none."""
    with open(path, "rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - (1 << 16) - 64))
        tail = file.read()
        at = tail.rfind(_END)
        if at < 0 or len(tail) < at + 22:
            return 0
        size = struct.unpack_from("<L", tail, at + 12)[0]
        if tail[at - 20 : at - 16] == _END_64_LOCATOR:
            file.seek(min(struct.unpack_from("<Q", tail, at - 12)[0], end))
            record = file.read(56)
            if len(record) == 56:
                size = max(size if size != 0xFFFFFFFF else 0, struct.unpack_from("<Q", record, 40)[0])
    return size


def is_archive(path) -> bool:
    """Whether the name is that of an archive this module reads."""
    return str(path).lower().endswith(ARCHIVE_SUFFIXES)


def find_sources(where: str | os.PathLike) -> list[Path]:
    """Source files that a path, folder or glob stands for, sorted: archives each by itself, a folder for its loose .sgf
    files.

    Archives anywhere below a folder are sources of their own; links below it are not followed. Raises SettingError
    when there is nothing, InputError for a folder that cannot be read.
    """
    where = os.path.expanduser(os.fspath(where))
    paths = [where] if os.path.exists(where) else sorted(glob.glob(where, recursive=True))
    sources: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            files = _files(path)
            sources += [path] * any(child.suffix.lower() == ".sgf" for child in files)
            sources += filter(is_archive, files)
        elif is_archive(path) or path.suffix.lower() == ".sgf":
            sources.append(path)
    if not sources:
        problem = "no .sgf file and no archive there" if paths else "no such file or folder"
        valid = "a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob"
        raise SettingError("DATA", where, problem, valid)
    return list(dict.fromkeys(sources))


def list_archives(folder: Path) -> list[Path]:
    """All archives below a folder, in a fixed order; links are not followed. Raises InputError."""
    return list(filter(is_archive, _files(folder)))


def read_members(path: Path, reading: ArchiveReading, name: str | None = None) -> Iterator[Member]:
    """Game files of one source in a fixed order: archive order, or names sorted for a folder. Raises InputError on
    damage and for a file that cannot be opened.

    name: the name whose suffix gives the format, by default the path's own.
    """
    reading.fraction = 0.0
    name = name or path.name
    try:
        if path.is_dir():
            yield from _read_folder(path, reading)
        elif name.lower().endswith(".zip"):
            yield from read_zip(path, reading)
        elif is_archive(name):
            yield from read_tar(path, reading, name)
        else:
            reading.add_member(path)
            yield from _read_file(path, name, reading)
    except OSError as error:
        raise InputError(error.filename or path, error.strerror or str(error)) from None


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path, info in _walk(folder) if stat.S_ISREG(info.st_mode)]
    except OSError as error:
        raise InputError(error.filename or folder, error.strerror or str(error)) from None


def _walk(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below a folder that are no folders, with their lstat, in sorted order; links are not followed. Raises
    OSError."""
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        pending += [Path(entry.path) for entry in reversed(ordered) if entry.is_dir(follow_symlinks=False)]
        for entry in ordered:
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path), entry.stat(follow_symlinks=False)


def _read_folder(folder: Path, reading: ArchiveReading) -> Iterator[Member]:
    entries = sum(1 for _ in _walk(folder))
    for i, (path, info) in enumerate(_walk(folder)):
        reading.fraction = i / max(1, entries)
        reading.add_member(folder)
        name = path.relative_to(folder).as_posix()
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("link" if stat.S_ISLNK(info.st_mode) else "device", name)
        elif not is_archive(path):  # an archive is a source of its own
            yield from _read_file(path, name, reading)


def _read_file(path: Path, name: str, reading: ArchiveReading) -> Iterator[Member]:
    """The game file, or nothing where it is none. Raises OSError."""
    # Opened without following links or waiting for a writer, and only then examined: the entry may have been exchanged.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("device", name)
        elif reading.wants(name, info.st_size):
            yield from reading.bounded(path, name, file)
