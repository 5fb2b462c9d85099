"""Source files -> position store: streamed, bounded in memory, safe against crashes, full disks and second builders."""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gonn_core import numerics
from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import discard, finish, locked, workshop, write_whole
from gonn_core.go import layout
from gonn_core.records.archives import ArchiveReading, NamedCount
from gonn_core.records.archives.members import read_members
from gonn_core.records.batches import StoreWriter, compile_kernels, numbered_name
from gonn_core.records.sgf import BadGame, read_games
from gonn_core.records.store import MANIFEST, BuildReport, Origin, Store, open_store, store_digest

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class GameSource:
    """An archive, .sgf file or folder; how its ranks are meant (`sgf.RANK_SCHEMES`); the collection it belongs to.

    lenient: games of anybody's own, read without the documents' rules on names and SZ, in UTF-16 too.
    """

    path: Path
    rank_scheme: str = "kgs"
    label: str = ""
    lenient: bool = False


@dataclass(frozen=True)
class Progress:
    """State of a build: which source of how many, share of the whole that has been read (0..1), games, rows, seconds so
    far."""

    source: str
    index: int
    sources: int
    fraction: float
    games: int
    rows: int
    seconds: float


def prepare_store(
    sources: Sequence[GameSource], stores: Path, progress: Callable[[Progress], None] | None = None
) -> Store:
    """The store of these sources below the folder `stores`: found by their checksums, or built; a damaged one is built
    again. Raises UserError."""
    if not sources:
        raise UserError("no source files to build a position store from")
    stores = Path(stores)
    stamps = [_stamp(source.path) for source in sources]  # before the checksums
    checksums = [_checksum(source.path) for source in sources]
    key = _source_key(sources, checksums)
    with locked(stores / "index" / f"{key}.lock"):
        # A second builder of the same sources waits at the lock and then finds what the first one made.
        store = _find(stores, key) or _build(sources, checksums, stamps, stores, key, progress)
    store.made_from = Origin(tuple(source.path for source in sources), key)
    return store


def _checksum(path: Path) -> str:
    """sha256 of a file, or of names and contents of a folder's .sgf files. Raises InputError."""
    if not path.is_dir():
        try:
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from None
    digest = hashlib.sha256()
    for name, data in read_members(path, ArchiveReading()):
        digest.update(f"{len(name)} {len(data)} ".encode() + name.encode("utf-8", "backslashreplace"))
        digest.update(data)
    return digest.hexdigest()


def _stamp(path: Path) -> list[tuple]:
    """What changes with a source: sizes, times and numbers of a file, or of all games below a folder (a workspace may
    lie there too). A file that was exchanged for another and put back has another time of its inode."""
    found = []
    for folder, _, files in os.walk(path) if path.is_dir() else [(str(path.parent), [], [path.name])]:
        for name in [file for file in files if not path.is_dir() or file.lower().endswith(".sgf")]:
            with suppress(OSError):
                about = os.lstat(os.path.join(folder, name))
                found.append((folder, name, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
    return sorted(found)


def _source_key(sources: Sequence[GameSource], checksums: Sequence[str]) -> str:
    """The name under which the store of these sources is found again."""
    tree = {
        "format": layout.FORMAT,
        "code": numerics.STORE_RULES,
        "sources": [
            (s.rank_scheme, c, "lenient, 19x19 without SZ") if s.lenient else (s.rank_scheme, c)
            for s, c in zip(sources, checksums, strict=True)
        ],
    }
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:20]


def _find(stores: Path, key: str) -> Store | None:
    """The store that the index names, with the report of these sources: the same store may have been made of other
    files earlier. None where there is none, or a damaged one."""
    path = stores / "index" / f"{key}.json"
    try:
        entry = checked_json(path, path.read_bytes())
        digest = entry["digest"]
        report = BuildReport.from_json(entry["report"]) if "report" in entry else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError, Damaged):
        return None
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{20}", digest):
        return None  # it could lead out of the folder
    store = _undamaged(stores / digest)
    if store:
        store.report = report or store.report
    return store


def _undamaged(folder: Path) -> Store | None:
    """The store in a folder; None where there is none. A damaged one is discarded."""
    try:
        return open_store(folder) if folder.is_dir() else None
    except Damaged as damage:
        _LOG.info("%s: %s; it is built again", damage.path, damage.problem.split(";")[0])
        discard(folder)
        return None


def _build(sources, checksums, stamps, stores: Path, key: str, progress) -> Store:
    compile_kernels()
    started, cpu_started = time.monotonic(), time.process_time()
    report = BuildReport(sources=len(sources))
    with workshop(stores) as folder:
        writer = None
        try:
            writer = StoreWriter(folder, report)
            source_entries = _read_all(sources, checksums, stamps, writer, report, progress, started)
            arrays = writer.close()
            if report.games_used == 0:
                why = [f"{games.count:,} {reason}" for reason, games in (report.skipped | report.ignored).items()]
                raise InputError(sources[0].path, f"no usable game ({'; '.join(why) or 'nothing there'})")
            report.digest = store_digest(arrays)
            canonical = np.load(folder / "games.npy", mmap_mode="r")["canonical"]
            report.duplicates = len(canonical) - len(np.unique(canonical, axis=0))
            report.seconds = round(time.monotonic() - started, 3)
            report.cpu_seconds = round(time.process_time() - cpu_started, 3)
            manifest = {
                "format": layout.FORMAT,
                "digest": report.digest,
                "arrays": arrays,
                "sources": source_entries,
                "report": asdict(report),
            }
            write_whole(folder / MANIFEST, sealed_json(manifest))
            if not (store := _undamaged(stores / report.digest)):
                finish(folder, stores / report.digest)
                store = open_store(stores / report.digest)
            store.report = report
            entry = {"digest": report.digest, "report": asdict(report)}
            write_whole(stores / "index" / f"{key}.json", sealed_json(entry))
            return store
        finally:
            if writer:
                writer.abandon()


def _read_all(sources, checksums, stamps, writer: StoreWriter, report: BuildReport, progress, started) -> list[dict]:
    """Feed every game of every source to the writer; what the manifest says about each source."""
    reading = ArchiveReading()
    report.ignored = reading.ignored

    def report_progress(index: int, fraction: float) -> None:
        if progress:
            seconds = time.monotonic() - started
            name, count = sources[index].path.name, len(sources)
            progress(Progress(name, index, count, fraction, report.games_read, report.rows, seconds))

    entries = []
    for index, (source, checksum, before) in enumerate(zip(sources, checksums, stamps, strict=True)):
        used_before = report.games_used
        for name, data in read_members(source.path, reading):
            for number, game in enumerate(read_games(data, source.rank_scheme, source.lenient), 1):
                game_name = numbered_name(name, number)
                report.games_read += 1
                if isinstance(game, BadGame):
                    report.skipped.setdefault(game.args[0], NamedCount()).add(game_name)
                else:
                    writer.add(game_name, index, game)
                    report.games_used += 1
            if report.games_read % 256 == 0:
                report_progress(index, (index + reading.fraction) / len(sources))
        if _stamp(source.path) != before:  # the store would be found under another one's checksums
            raise InputError(source.path, "changed while it was read")
        entries.append(
            {
                "label": source.label,
                "name": source.path.name,
                "rank_scheme": source.rank_scheme,
                "sha256": checksum,
                "games": report.games_used - used_before,
            }
        )
    writer.flush()
    report_progress(len(sources) - 1, 1.0)
    return entries
