"""`gonn data list`, `gonn data build`: data sets, and the stores made of them."""

from pathlib import Path

from rich import box
from rich.table import Table

from ablations.data.datasets import lacks, load_dataset
from ablations.data.schema import DECLARATIONS, SplitDeclaration, dataset_names, read_declaration
from gonn_core.errors import SettingError, printable
from gonn_core.records.fetch import KGS_URL, fetch_kgs
from orchestration.console import output
from orchestration.data.prepare import OneBar, prepare_shown
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
            years += range(int(first), int(last or first) + 1)
    except ValueError:
        raise SettingError("--years", text, "not a list of years", "such as 2000-2015 or 2015,2017") from None
    return years
