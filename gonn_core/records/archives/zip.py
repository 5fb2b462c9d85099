"""Zip archives as bounded streams."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from gonn_core.errors import InputError
from gonn_core.records.archives.reading import ArchiveReading, Member

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
