"""Data sets of a workspace: `gonn data list`, `build` and `fetch`, and the store that a command's trials need."""

import logging
import re
from pathlib import Path

from rich import box
from rich.table import Table

from ablations.data.datasets import Dataset, PreparedData, lacks, load_dataset, prepare
from ablations.data.schema import DECLARATIONS, SplitDeclaration, dataset_names, read_declaration
from gonn_core.errors import SettingError, printable
from gonn_core.records.build import Progress
from gonn_core.records.fetch import KGS_URL, fetch_kgs
from orchestration.console import Bar, Display, notes, output
from reports.workspace import Workspace

LOOKING = "looking for the games' store; if there is none, its kernels are compiled first"


class OneBar:
    """Progress of one piece of work after another, while it is entered; nothing is left of it afterwards."""

    def __init__(self, label: str = "", text: str = ""):
        self._bar, self._display = Bar(label, 0.0, 1.0, text), Display(self.bars, transient=True)

    def __enter__(self) -> "OneBar":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def show(self, label: str, done: float, total: float, text: str, is_note: bool = False) -> None:
        """How far the work is; is_note: as a line that stays."""
        self._bar = Bar(label, done, total, text)
        if is_note:
            self._display.note(f"{label}: {text}")
        else:
            self._display.refresh()

    def bars(self) -> list[Bar]:
        """The bar, unless its work is done."""
        return [self._bar] if self._bar.done != self._bar.total else []


def prepare_shown(dataset: Dataset, workspace: Workspace) -> PreparedData:
    """`prepare`, with progress and the core's log on the terminal, and a line for archives that were not found."""
    log, handler = logging.getLogger("gonn_core"), logging.StreamHandler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with OneBar("store", LOOKING) as bar:
            prepared = prepare(dataset, workspace.stores, lambda state: bar.show("store", *_progress(state)))
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
    if dataset.missing:
        names = (re.sub(r"\[[^]]*\]|\*", "", pattern) for pattern in dataset.missing)
        notes().print(f"not found: {', '.join(names)}; {prepared.coverage}")
    return prepared


def _progress(state: Progress) -> tuple[float, float, str]:
    """The share of the games' files that has been read, of 1, and both in words."""
    left = state.seconds / state.fraction - state.seconds if state.fraction > 0 else 0
    files = f"{printable(state.source)} ({state.index + 1} of {state.sources}), {state.games:,} games"
    text = f"{files}, {state.rows:,} positions, {100 * state.fraction:.0f} %, {left:.0f} s left"
    return state.fraction, 1.0, text


def print_list() -> None:
    """A table of the declared data sets."""
    table = Table("data set", "what", "train", "validation", "test", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in dataset_names():
        declaration = read_declaration(DECLARATIONS / f"{name}.yaml")
        rules = [_rule(declaration.split(split)) for split in ("train", "validation", "test")]
        table.add_row(name, declaration.title, *rules)
    output().print(table)
    output().print("Any folder or archive of SGF files is a data set too: DATA=/my/sgfs")


def _rule(split: SplitDeclaration) -> str:
    parts = []
    if split.years:
        first, last = split.years
        parts.append(f"{first}-{last}" if first != last else str(first))
    if split.hashed:
        parts.append(f"{100 * (split.hashed[1] - split.hashed[0]):g} % of games")
    return ", ".join(parts)


def build(data: str, data_dir: Path | None) -> None:
    """Build or find the store and views of a data set, and print its report."""
    workspace = Workspace.here()
    prepared = prepare_shown(load_dataset(data, data_dir), workspace)
    console = output()
    console.print(prepared.report.render_text())
    for line in lacks(prepared):
        console.print(line)
    table = Table("split", "positions", "games", "digest", box=box.SIMPLE_HEAD, pad_edge=False)
    for split, view in prepared.views.items():
        table.add_row(split, f"{view.n:,}", f"{len(set(view.games().tolist())):,}", view.digest)
    console.print(table)
    console.print(f"{prepared.coverage}; {prepared.store.folder}")


def fetch(data: str, data_dir: Path | None, years: str | None, url: str | None) -> None:
    """Download the archives of a public data set below the data folder. Raises UserError."""
    if data != "kgs":
        raise SettingError("DATA", data, "cannot be downloaded", ["kgs"])
    if data_dir is None:
        valid = "a folder for the archives, or GONN_DATA in the environment"
        raise SettingError("--data-dir", "", "no data folder given", valid)
    splits = read_declaration(DECLARATIONS / "kgs.yaml").splits
    spans = [split.years for split in (splits.train, splits.validation, splits.test) if split.years]
    chosen = sorted({year for first, last in spans for year in range(first, last + 1)})
    if years is not None:
        chosen = _years(years)
    with OneBar() as bar:

        def show(name: str, got: int, total: int) -> None:
            text = f"{got / 1e6:.1f}" + (f" of {total / 1e6:.1f} MB" if total else " MB")
            bar.show(printable(name), got, total, text, is_note=got == total)

        paths = fetch_kgs(data_dir, url or KGS_URL, chosen, show)
    output().print(f"{len(paths)} archives in {data_dir / 'kgs'}; next: gonn data build kgs --data-dir {data_dir}")


def _years(text: str) -> list[int]:
    years: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            if not (span := range(int(first), int(last or first) + 1)):
                raise ValueError(part)
            years += span
    except ValueError:
        raise SettingError("--years", text, "not a list of years", "such as 2000-2015 or 2015,2017") from None
    return years
