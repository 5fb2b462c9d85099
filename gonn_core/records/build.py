"""Source files -> position store: streamed, bounded in memory, safe against crashes, full disks and second builders."""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gonn_core import numerics
from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import write_whole
from gonn_core.files.workshop import discard, finish, locked, workshop
from gonn_core.go import layout
from gonn_core.records.archives.members import read_members
from gonn_core.records.archives.reading import ArchiveReading, NamedCount
from gonn_core.records.batches import StoreWriter, compile_kernels, numbered_name
from gonn_core.records.sgf.games import BadGame, read_games
from gonn_core.records.sources import GameSource, checked_sources, stamp, unread
from gonn_core.records.store import MANIFEST, BuildReport, Origin, Store, open_store, store_digest

_LOG = logging.getLogger(__name__)


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
    """The store of these sources below the folder `stores`: found by their checksums, or built; also where the one that
    is found is damaged. Raises UserError."""
    if not sources:
        raise UserError("no source files to build a position store from")
    stores = Path(stores)
    reading = ArchiveReading()
    stamps = {source.path: stamp(source.path) for source in sources}  # before the checksums
    sources, checksums = checked_sources(sources, reading)
    key = _source_key(sources, checksums, reading)
    store = _whole(stores, key)
    if store is None:
        with locked(stores / "index" / f"{key}.lock"):
            # A second builder of the same sources waits at the lock and then finds what the first one made.
            store = _find_or_remove(stores, key) or _build(sources, checksums, stamps, stores, key, progress, reading)
    store.made_from = Origin(tuple(source.path for source in sources), key)
    return store


def _whole(stores: Path, key: str) -> Store | None:
    """The store, None where there is none, or a damaged one."""
    with suppress(Damaged):
        return _find(stores, key)
    return None


def _find_or_remove(stores: Path, key: str) -> Store | None:
    """The store; None where there is none, and after a damaged one was put out of the way of another."""
    try:
        return _find(stores, key)
    except Damaged as damage:
        _remove_damaged(Path(damage.path).parent)
        return None


def _remove_damaged(folder: Path) -> None:
    """Put a store out of the way if it is there and damaged."""
    try:
        if folder.is_dir():
            open_store(folder)
    except Damaged as damage:
        _LOG.info("%s: %s; it is built again", damage.path, damage.problem.split(";")[0])
        discard(folder)


def _find(stores: Path, key: str) -> Store | None:
    path = stores / "index" / f"{key}.json"
    try:
        entry = checked_json(path, path.read_bytes())
        digest = entry["digest"]
        report = BuildReport.from_json(entry["report"]) if "report" in entry else None
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, Damaged):
        return None
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{20}", digest):
        return None  # it could lead out of the folder
    return _open(stores / digest, report) if (stores / digest).is_dir() else None


def _open(folder: Path, report: BuildReport | None) -> Store:
    """The store, with the report of these sources: the same store may have been made of other files before, of which
    its own report tells."""
    store = open_store(folder)
    store.report = report or store.report
    return store


def _build(sources, checksums, stamps, stores: Path, key: str, progress, reading: ArchiveReading) -> Store:
    compile_kernels()
    started, cpu_started = time.monotonic(), time.process_time()
    report = BuildReport(sources=len(sources))
    with workshop(stores) as folder:
        writer = None
        try:
            writer = StoreWriter(folder, report)
            source_entries = _read_all(sources, checksums, stamps, writer, report, progress, started, reading)
            arrays = writer.close()
            if report.games_used == 0:
                raise InputError(sources[0].path, _nothing_usable(report))
            report.digest = store_digest(arrays)
            report.duplicates = _count_duplicates(folder)
            report.seconds = round(time.monotonic() - started, 3)
            report.cpu_seconds = round(time.process_time() - cpu_started, 3)
            manifest = {
                "format": layout.FORMAT,
                "digest": report.digest,
                "arrays": arrays,
                "sources": source_entries,
                "report": report.to_json(),
            }
            write_whole(folder / MANIFEST, sealed_json(manifest))
            _remove_damaged(stores / report.digest)
            finish(folder, stores / report.digest)
            store = _open(stores / report.digest, report)
            entry = {"digest": report.digest, "report": report.to_json()}
            write_whole(stores / "index" / f"{key}.json", sealed_json(entry))
            return store
        finally:
            if writer:
                writer.abandon()


def _read_all(
    sources, checksums, stamps, writer: StoreWriter, report: BuildReport, progress, started, reading: ArchiveReading
) -> list[dict]:
    """Feed every game of every source to the writer; what the manifest says about each source."""
    report.ignored = reading.ignored

    def report_progress(index: int, fraction: float) -> None:
        if progress:
            seconds = time.monotonic() - started
            name, count = sources[index].path.name, len(sources)
            progress(Progress(name, index, count, fraction, report.games_read, report.rows, seconds))

    entries = []
    for index, (source, checksum) in enumerate(zip(sources, checksums, strict=True)):
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
        if stamp(source.path) != stamps[source.path]:  # the store would be found under another one's checksums
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


def _nothing_usable(report: BuildReport) -> str:
    why = [f"{games.count:,} {reason}" for reason, games in (report.skipped | report.ignored).items()]
    return f"no usable game ({'; '.join(why) or 'nothing there'})"


def _count_duplicates(folder: Path) -> int:
    """Games that are equal to an earlier one, mirrored or turned as they may be."""
    canonical = np.load(folder / "games.npy", mmap_mode="r")["canonical"]
    order = np.lexsort((canonical[:, 1], canonical[:, 0]))
    ordered = canonical[order]
    return int((ordered[1:] == ordered[:-1]).all(axis=1).sum())


def _source_key(sources, checksums, reading: ArchiveReading | None = None) -> str:
    """The name under which the store of these sources is found again."""
    tree: dict = {
        "format": layout.FORMAT,
        "code": numerics.STORE_RULES,
        "sources": [
            (s.rank_scheme, c, "lenient, 19x19 without SZ") if s.lenient else (s.rank_scheme, c)
            for s, c in zip(sources, checksums, strict=True)
        ],
    }
    if reading and (passed_over := unread(reading)):
        tree["unread"] = passed_over
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()[:20]
