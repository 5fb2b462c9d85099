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
from gonn_core.records.archives.reading import ArchiveReading, Member

_BLOCK = tarfile.BLOCKSIZE
_CHUNK = 1 << 16
XZ_MEMORY = 128 << 20
_MAX_EXTENDED_HEADER = 1 << 20
_SPARSE_MORE, _SPARSE_MORE_AGAIN = 482, 504  # where GNU sparse headers say that another one follows
_PAX_LENGTH = re.compile(rb"([0-9]{1,19}) ")
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class _XzStream:
    """`read(n)` over an xz file (one or more streams) whose decoder may use at most XZ_MEMORY bytes."""

    def __init__(self, file):
        self._file, self._decoder = file, None

    def _new_decoder(self):
        return lzma.LZMADecompressor(lzma.FORMAT_AUTO, memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        while True:
            if self._decoder is None or self._decoder.eof:
                ahead = self._decoder.unused_data if self._decoder else b""
                ahead = (ahead or self._file.read(_CHUNK)).lstrip(b"\0")  # streams may be padded with zeros
                if not ahead:
                    return b""
                self._decoder = self._new_decoder()
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
        self._buffer = bytearray()  # grows at its end and shrinks at its front without being copied each time
        self.offset, self.member = 0, ""

    def _fill(self) -> bool:
        try:
            data = self._stream.read(_CHUNK)
        except _DAMAGE as error:
            self.damaged(
                "memory limit of the xz decoder exceeded" if "limit" in str(error).lower() else "damaged or truncated"
            )
        except OSError as error:  # bz2 has no exception of its own
            self.damaged("damaged or truncated" if error.errno is None else error.strerror or str(error))
        self._reading.add_bytes(self._path, len(data))
        self._buffer += data
        return bool(data)

    def damaged(self, problem: str) -> NoReturn:
        """Raise the InputError that names the place."""
        where = f", in or after member {self.member}" if self.member else ""
        raise InputError(self._path, f"{problem} at byte {self.offset:,} of the uncompressed archive{where}") from None

    def read(self, size: int, may_end: bool = False) -> bytes:
        """Exactly `size` bytes (at most a few MiB); b"" at the end of the stream when `may_end`."""
        while len(self._buffer) < size:
            if not self._fill():
                if may_end and not self._buffer:
                    return b""
                self.damaged("truncated")
        data = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        self.offset += size
        return data

    def skip(self, size: int):
        """Pass over `size` bytes without keeping them."""
        while size:
            step = min(size, _CHUNK)
            self.read(step)
            size -= step

    def check_end(self):
        """Read what is left, so that the compression's own checksum is tested."""
        while self._fill():
            self._buffer.clear()


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
            if info.type in (
                tarfile.GNUTYPE_LONGNAME,
                tarfile.GNUTYPE_LONGLINK,
                tarfile.XHDTYPE,
                tarfile.XGLTYPE,
                tarfile.SOLARIS_XHDTYPE,
            ):
                if info.size > _MAX_EXTENDED_HEADER:
                    stream.damaged("an extended header of more than 1 MiB")
                data = stream.read(padded)[: info.size]
                if info.type == tarfile.GNUTYPE_LONGNAME:
                    extended["path"] = data.split(b"\0")[0].decode("utf-8", "surrogateescape")
                elif info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                    extended |= _pax_records(data)
                continue
            name = stream.member = extended.get("path", info.name)
            if "size" in extended:
                if not re.fullmatch("[0-9]{1,19}", extended["size"]):
                    stream.damaged("a bad size in an extended header")
                size = int(extended["size"])
                padded = -(-size // _BLOCK) * _BLOCK
            else:
                size = info.size
            extended = {}
            reading.add_member(path)
            reading.fraction = file.tell() / size_on_disk
            if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE) and not name.endswith("/"):
                if reading.wants(name, size):
                    yield Member(name, stream.read(padded)[:size])
                else:
                    stream.skip(padded)
            else:
                _skip_special(stream, reading, info, name, padded, block)
        stream.check_end()


def _skip_special(stream: _TarStream, reading: ArchiveReading, info, name: str, padded: int, block: bytes):
    if info.type in (tarfile.DIRTYPE, tarfile.AREGTYPE, tarfile.REGTYPE):
        pass
    elif info.type in (tarfile.LNKTYPE, tarfile.SYMTYPE):
        reading.ignore("link", name)
        return  # a size in a link's header is that of its target
    elif info.type == tarfile.GNUTYPE_SPARSE:
        reading.ignore("sparse file", name)
        more = block[_SPARSE_MORE]
        while more:
            more = stream.read(_BLOCK)[_SPARSE_MORE_AGAIN]
    else:
        reading.ignore("device", name)
    stream.skip(padded)


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
