"""Sources of games: which files a path stands for, and the game files that one of them holds, in a fixed order."""

import glob
import logging
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from gonn_core.errors import InputError, SettingError, printable
from gonn_core.records.archives.reading import ARCHIVE_SUFFIXES, ArchiveReading, Member
from gonn_core.records.archives.tar import read_tar

_MAX_DIRECTORY = 32 << 20
"""zipfile holds the whole central directory as objects: this bounds it to a few hundred thousand members."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)  # LZMA's memory cannot be bounded here
_ENCRYPTED = 1
_END, _END_64_LOCATOR = b"PK\5\6", b"PK\6\7"


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
            name = info.filename
            mode = info.external_attr >> 16
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
                data = _read(archive, info, path, reading.max_game_bytes)
                reading.add_bytes(path, len(data))
                if len(data) > reading.max_game_bytes:  # the directory lied
                    reading.ignore("too large", name)
                else:
                    yield Member(name, data)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, limit: int) -> bytes:
    try:
        with archive.open(info) as file:
            return file.read(limit + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise InputError(
            path, f"damaged or truncated at byte {info.header_offset:,}, member {info.filename} ({error})"
        ) from None


def _directory_bytes(path: Path) -> int:
    """Size of the central directory that the end record claims, which is what zipfile will read; 0 when there is
    none."""
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

    Archives anywhere below a folder are sources of their own; links below it are not followed. A folder in which
    something cannot be read is a source too, that says so when it is read. Raises SettingError when there is nothing.
    """
    where = os.path.expanduser(os.fspath(where))
    if os.path.exists(where):
        paths = [where]
    else:
        paths = sorted(glob.glob(where, recursive=True)) if glob.has_magic(where) else []
        if not paths:
            raise SettingError(
                "DATA",
                where,
                "no such file or folder",
                "a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob",
            )
    sources = []
    for path in map(Path, paths):
        if path.is_dir():
            reading = ArchiveReading()
            try:
                files = _files(path, reading)
            except InputError:
                if len(paths) == 1:
                    raise
                files = []
                sources.append(path)  # of several, one that cannot be read is passed over when all are read
            if reading.unread or any(child.suffix.lower() == ".sgf" for child in files):
                sources.append(path)
            sources += filter(is_archive, files)
        elif is_archive(path) or path.suffix.lower() == ".sgf":
            sources.append(path)
    if not sources:
        raise SettingError(
            "DATA",
            where,
            "no .sgf file and no archive there",
            "a folder, an .sgf file, an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz), a glob",
        )
    return list(dict.fromkeys(sources))


def list_archives(folder: Path) -> list[Path]:
    """All archives below a folder, in a fixed order; links are not followed, and folders that cannot be read are
    passed over with a line. Raises InputError when the folder itself cannot be read."""
    reading = ArchiveReading()
    found = list(filter(is_archive, _files(folder, reading)))
    for why, entries in reading.unread.items():
        names = ", ".join(entries.names)
        logging.getLogger("gonn_core").warning("%s: %s: %s", printable(str(folder)), why, names)
    return found


def read_members(path: Path, reading: ArchiveReading, name: str | None = None) -> Iterator[Member]:
    """Game files of one source in a fixed order: archive order, or names sorted for a folder. Raises InputError on
    damage.

    `name` is the name whose suffix says what the file is, by default its own.
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
        raise InputError(path, error.strerror or str(error)) from None


def _files(folder: Path, reading: ArchiveReading) -> list[Path]:
    try:
        return [path for path, info in _walk(folder, reading) if stat.S_ISREG(info.st_mode)]
    except OSError as error:
        raise InputError(folder, error.strerror or str(error)) from None


def _walk(folder: Path, reading: ArchiveReading) -> Iterator[tuple[Path, os.stat_result]]:
    """All entries below a folder that are no folders, with their lstat, in sorted order; links are not followed.

    What cannot be read below it is counted in `reading`. Raises OSError when the folder itself cannot be.
    """
    pending = [folder]
    while pending:
        inner = pending.pop()
        try:
            with os.scandir(inner) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if inner == folder:
                raise
            reading.ignore_unreadable(error, inner.relative_to(folder).as_posix() + "/")
            continue
        pending += [Path(entry.path) for entry in reversed(ordered) if entry.is_dir(follow_symlinks=False)]
        for entry in ordered:
            if not entry.is_dir(follow_symlinks=False):
                try:
                    info = entry.stat(follow_symlinks=False)
                except OSError as error:
                    reading.ignore_unreadable(error, Path(entry.path).relative_to(folder).as_posix())
                else:
                    yield Path(entry.path), info


def _read_folder(folder: Path, reading: ArchiveReading) -> Iterator[Member]:
    entries = sum(1 for _ in _walk(folder, ArchiveReading()))
    for i, (path, info) in enumerate(_walk(folder, reading)):
        reading.fraction = i / max(1, entries)
        reading.add_member(folder)
        name = path.relative_to(folder).as_posix()
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("link" if stat.S_ISLNK(info.st_mode) else "device", name)
        elif is_archive(path):
            continue  # a source of its own
        else:
            try:
                game = _read_file(path, name, reading)
            except OSError as error:
                reading.ignore_unreadable(error, name)
            else:
                yield from game


def _read_file(path: Path, name: str, reading: ArchiveReading) -> list[Member]:
    """The game file, or nothing where it is none. Raises OSError."""
    # Opened without following links or waiting for a writer, and only then looked at: the entry may have been
    # exchanged.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            reading.ignore("device", name)
        elif reading.wants(name, info.st_size):
            data = file.read(reading.max_game_bytes + 1)
            reading.add_bytes(path, len(data))
            if len(data) <= reading.max_game_bytes:
                return [Member(name, data)]
            reading.ignore("too large", name)
    return []
