"""`gonn data list`, `gonn data build`: data sets, and the stores made of them."""

from pathlib import Path

from rich import box
from rich.table import Table

from ablations.data.datasets import lacks, load_dataset
from ablations.data.declared import DECLARATIONS, dataset_names, read_declaration
from ablations.data.schema import SplitDeclaration
from gonn_core.errors import SettingError, printable
from gonn_core.records.fetch import KGS_URL, fetch_kgs
from orchestration.console import Bar, Display, output
from orchestration.data.prepare import prepare_shown
from reports.workspace import Workspace


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
        raise SettingError(
            "--data-dir", "", "no data folder given", "a folder for the archives, or GONN_DATA in the environment"
        )
    chosen = _declared_years() if years is None else _years(years)
    with DownloadProgress() as progress:
        paths = fetch_kgs(data_dir, url or KGS_URL, chosen, progress)
    output().print(f"{len(paths)} archives in {data_dir / 'kgs'}; next: gonn data build kgs --data-dir {data_dir}")


class DownloadProgress:
    """Shows how one download after the other gets on; each that is done is a line that stays."""

    def __init__(self) -> None:
        self._name, self._bytes, self._total = "", 0, 0
        self._display = Display(self.bars, transient=True)

    def __enter__(self) -> "DownloadProgress":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def __call__(self, name: str, got: int, total: int) -> None:
        """So many bytes of so many have come; total 0: not known."""
        self._name, self._bytes, self._total = printable(name), got, total
        if got == total:
            self._display.note(f"{self._name}: {self._text()}")
        else:
            self._display.refresh()

    def bars(self) -> list[Bar]:
        """One bar: the download."""
        return [Bar(self._name, self._bytes, self._total, self._text())] if self._bytes != self._total else []

    def _text(self) -> str:
        return f"{self._bytes / 1e6:.1f}" + (f" of {self._total / 1e6:.1f} MB" if self._total else " MB")


def _declared_years() -> list[int]:
    """The years that the data set is made of."""
    declaration = read_declaration(DECLARATIONS / "kgs.yaml")
    years: set[int] = set()
    for split in ("train", "validation", "test"):
        span = declaration.split(split).years
        assert span is not None  # kgs is split by years
        years.update(range(span[0], span[1] + 1))
    return sorted(years)


def _years(text: str) -> list[int]:
    years: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            years += range(int(first), int(last or first) + 1)
    except ValueError:
        raise SettingError("--years", text, "not a list of years", "such as 2000-2015 or 2015,2017") from None
    return years
