"""Tar archives as bounded streams.

The loop over headers is our own (each header is parsed by `tarfile.TarInfo.frombuf`), because tarfile reads extended
headers of any size into memory and cannot bound xz's memory.
"""

import bz2
import gzip
import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from gonn_core.errors import InputError
from gonn_core.records.archives import ArchiveReading, Member

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 16
XZ_MEMORY = 128 << 20
_MAX_EXTENDED_HEADER = 1 << 20
_SPARSE_MORE, _SPARSE_MORE_AGAIN = 482, 504  # where GNU sparse headers say that another one follows
_PAX_LENGTH = re.compile(rb"([0-9]{1,19}) ")
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_EXTENDED = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XGLTYPE, *_PAX)
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)


class _XzStream:
    """`read(n)` over an xz file (one or more streams) whose decoder may use at most XZ_MEMORY bytes."""

    def __init__(self, file):
        self._file = file
        self._decoder: lzma.LZMADecompressor | None = None

    def read(self, size: int) -> bytes:
        while True:
            if self._decoder is None or self._decoder.eof:
                ahead = self._decoder.unused_data if self._decoder else b""
                ahead = (ahead or self._file.read(_CHUNK)).lstrip(b"\0")  # streams may be padded with zeros
                if not ahead:
                    return b""
                self._decoder = lzma.LZMADecompressor(lzma.FORMAT_AUTO, memlimit=XZ_MEMORY)
                data = self._decoder.decompress(ahead, size)
            else:
                more = self._file.read(_CHUNK) if self._decoder.needs_input else b""
                if self._decoder.needs_input and not more:
                    raise EOFError
                data = self._decoder.decompress(more, size)
            if data:
                return data


def _decompressed(file, name: str):
    lower = name.lower()
    if lower.endswith(("gz", "tgz")):
        return gzip.GzipFile(fileobj=file, mode="rb")
    if lower.endswith(("bz2", "tbz", "tbz2")):
        return bz2.BZ2File(file)
    if lower.endswith(("xz", "txz")):
        return _XzStream(file)
    return file


class _TarStream:
    """Exact reads from the uncompressed stream, counted; a short one is the archive's end cut off."""

    def __init__(self, path: Path, file, reading: ArchiveReading, name: str):
        self._path, self._reading = path, reading
        self._stream = _decompressed(file, name)
        self.buffer = bytearray()  # grows at its end and shrinks at its front without being copied each time
        self.offset, self.member = 0, ""

    def fill(self) -> bool:
        """Read a piece of the stream into the buffer; whether there was one."""
        try:
            data = self._stream.read(_CHUNK)
        except _DAMAGE as error:
            self.damaged(
                "memory limit of the xz decoder exceeded" if "limit" in str(error).lower() else "damaged or truncated"
            )
        except OSError as error:  # bz2 has no exception of its own
            self.damaged("damaged or truncated" if error.errno is None else error.strerror or str(error))
        self._reading.add_bytes(self._path, len(data))
        self.buffer += data
        return bool(data)

    def damaged(self, problem: str) -> NoReturn:
        """Raise the InputError that names the place."""
        where = f", in or after member {self.member}" if self.member else ""
        raise InputError(self._path, f"{problem} at byte {self.offset:,} of the uncompressed archive{where}") from None

    def read(self, size: int, may_end: bool = False) -> bytes:
        """Exactly `size` bytes (at most a few MiB); b"" at the end of the stream when `may_end`."""
        while len(self.buffer) < size:
            if not self.fill():
                if may_end and not self.buffer:
                    return b""
                self.damaged("truncated")
        data = bytes(memoryview(self.buffer)[:size])
        del self.buffer[:size]
        self.offset += size
        return data

    def skip(self, size: int):
        """Pass over `size` bytes without keeping them."""
        while size:
            step = min(size, _CHUNK)
            self.read(step)
            size -= step


def read_tar(path: Path, reading: ArchiveReading, archive_name: str) -> Iterator[Member]:
    """Game files of a tar archive, compressed as `archive_name` says, in archive order. Raises InputError."""
    with open(path, "rb") as file:
        stream = _TarStream(path, file, reading, archive_name)
        size_on_disk = max(1, path.stat().st_size)
        extended: dict[str, str] = {}
        while True:
            block = stream.read(_BLOCK, may_end=True)
            if not block.strip(b"\0"):
                if not block and stream.offset == 0:
                    stream.damaged("empty")
                break
            try:
                info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            except tarfile.HeaderError:
                stream.damaged("not a tar header")
            if info.size < 0:
                stream.damaged("not a tar header")
            padded = -(-info.size // _BLOCK) * _BLOCK
            if info.type in _EXTENDED:
                if info.size > _MAX_EXTENDED_HEADER:
                    stream.damaged("an extended header of more than 1 MiB")
                data = stream.read(padded)[: info.size]
                if info.type == tarfile.GNUTYPE_LONGNAME:
                    extended["path"] = data.split(b"\0")[0].decode("utf-8", "surrogateescape")
                elif info.type in _PAX:
                    extended |= _pax_records(data)
                continue
            name = stream.member = extended.get("path", info.name)
            digits = extended.get("size", str(info.size))
            if not re.fullmatch("[0-9]{1,19}", digits):
                stream.damaged("a bad size in an extended header")
            size, extended = int(digits), {}
            padded = -(-size // _BLOCK) * _BLOCK
            reading.add_member(path)
            reading.fraction = file.tell() / size_on_disk
            if info.type in (tarfile.LNKTYPE, tarfile.SYMTYPE):
                reading.ignore("link", name)  # a size in its header is that of its target
                continue
            if info.type == tarfile.GNUTYPE_SPARSE:
                reading.ignore("sparse file", name)
                more = block[_SPARSE_MORE]
                while more:
                    more = stream.read(_BLOCK)[_SPARSE_MORE_AGAIN]
            elif info.type in _FILES and not name.endswith("/"):
                if reading.wants(name, size):
                    yield Member(name, stream.read(padded)[:size])
                    continue
            elif info.type not in (tarfile.DIRTYPE, *_FILES):
                reading.ignore("device", name)
            stream.skip(padded)
        while stream.fill():  # to the end, so that the compression's own checksum is tested
            stream.buffer.clear()


def _pax_records(data: bytes) -> dict[str, str]:
    """`path` and `size` of a pax header: records `length key=value newline`."""
    records, start = {}, 0
    while length := _PAX_LENGTH.match(data, start):
        end = start + int(length[1])
        if not length.end() < end <= len(data):
            break
        key, _, value = data[length.end() : end - 1].partition(b"=")
        if key in (b"path", b"size"):
            records[key.decode()] = value.decode("utf-8", "surrogateescape")
        start = end
    return records
