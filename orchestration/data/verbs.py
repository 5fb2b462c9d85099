"""`gonn data`: list data sets, build stores, fetch archives."""

import logging
import re
import sys
import time
from contextlib import contextmanager

from rich import box
from rich.table import Table

from ablations.dataset import DECLARATIONS, Dataset, dataset_names, load_dataset, prepare, read_declaration
from gonn_core.errors import SettingError, printable
from gonn_core.records.fetch import KGS_URL, fetch_kgs
from orchestration.console import notes, output
from orchestration.study.planning import data_folder
from orchestration.workspace import Workspace

PLAIN_SECONDS = 5.0


class BuildProgress:
    """Shows a build's progress: one live line on a terminal, a plain line every few seconds elsewhere; nothing for a
    quick build."""

    def __init__(self):
        self._live = sys.stderr.isatty()
        self._last = time.monotonic()
        self._shown = False

    def __call__(self, state) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._live else PLAIN_SECONDS):
            return
        self._last = now
        left = state.seconds / state.fraction - state.seconds if state.fraction > 0 else 0
        line = f"store: {printable(state.source)} ({state.index + 1} of {state.sources}), {state.games:,} games, {state.rows:,} positions, {100 * state.fraction:.0f} %, {left:.0f} s left"
        print(("\r\x1b[K" if self._live else "") + line, end="" if self._live else "\n", file=sys.stderr, flush=True)
        self._shown = True

    def close(self) -> None:
        """End the live line."""
        if self._live and self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Notes(logging.Handler):
    """Says what the core logs."""

    def emit(self, record: logging.LogRecord) -> None:
        notes().print(record.getMessage())


@contextmanager
def _said():
    """While this is entered, what the core logs is said on the terminal."""
    log, handler = logging.getLogger("gonn_core"), _Notes(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def prepare_shown(dataset: Dataset, workspace: Workspace):
    """`prepare`, with progress on the terminal and a line for archives that were not found."""
    shown = BuildProgress()
    try:
        with _said():
            prepared = prepare(dataset, workspace.stores, shown)
    finally:
        shown.close()
    if dataset.missing:
        names = (re.sub(r"\[[^]]*\]|\*", "", pattern) for pattern in dataset.missing)
        notes().print(f"not found: {', '.join(names)}; {prepared.coverage}")
    return prepared


def print_list() -> None:
    """A table of the declared data sets."""
    table = Table("data set", "what", "train", "validation", "test", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in dataset_names():
        declaration = read_declaration(DECLARATIONS / f"{name}.yaml")
        table.add_row(
            name, declaration.title, *(_rule(declaration.split(split)) for split in ("train", "validation", "test"))
        )
    output().print(table)
    output().print("Any folder or archive of SGF files is a data set too: DATA=/my/sgfs")


def _rule(split) -> str:
    parts = []
    if split.years:
        parts.append(f"{split.years[0]}-{split.years[1]}" if split.years[0] != split.years[1] else str(split.years[0]))
    if split.hashed:
        parts.append(f"{100 * (split.hashed[1] - split.hashed[0]):g} % of games")
    return ", ".join(parts)


def build(data: str, data_dir) -> None:
    """Build or find the store and views of a data set, and print its report."""
    workspace = Workspace.here()
    prepared = prepare_shown(load_dataset(data, data_folder(data_dir)), workspace)
    console = output()
    console.print(prepared.report.render_text())
    table = Table("split", "positions", "games", "digest", box=box.SIMPLE_HEAD, pad_edge=False)
    for split, view in prepared.views.items():
        table.add_row(split, f"{view.n:,}", f"{len(set(view.games().tolist())):,}", view.digest)
    console.print(table)
    console.print(f"{prepared.coverage}; {prepared.store.folder}")


def _years(text: str | None, declared: list[int]) -> list[int]:
    if text is None:
        return declared
    years = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            years += range(int(first), int(last or first) + 1)
    except ValueError:
        raise SettingError("--years", text, "not a list of years", "such as 2000-2015 or 2015,2017") from None
    return years


def fetch(data: str, data_dir, years: str | None, url: str | None) -> None:
    """Download the archives of a public data set below the data folder."""
    if data != "kgs":
        raise SettingError("DATA", data, "cannot be downloaded", ["kgs"])
    folder = data_folder(data_dir)
    if folder is None:
        raise SettingError(
            "--data-dir", "", "no data folder given", "a folder for the archives, or GONN_DATA in the environment"
        )
    declaration = read_declaration(DECLARATIONS / "kgs.yaml")
    declared = sorted(
        {
            year
            for split in ("train", "validation", "test")
            for year in range(declaration.split(split).years[0], declaration.split(split).years[1] + 1)
        }
    )
    live, last = sys.stderr.isatty(), [0.0]

    def progress(name: str, got: int, total: int) -> None:
        if time.monotonic() - last[0] < (0.2 if live else PLAIN_SECONDS) and got != total:
            return
        last[0] = time.monotonic()
        line = f"{printable(name)}: {got / 1e6:.1f}" + (f" of {total / 1e6:.1f} MB" if total else " MB")
        print(
            ("\r\x1b[K" if live else "") + line, end="" if live and got != total else "\n", file=sys.stderr, flush=True
        )

    paths = fetch_kgs(folder, url or KGS_URL, _years(years, declared), progress)
    output().print(f"{len(paths)} archives in {folder / 'kgs'}; next: gonn data build kgs --data-dir {folder}")
