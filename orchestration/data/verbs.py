"""`gonn data list`, `gonn data build`: data sets, and the stores made of them."""

from pathlib import Path

from rich import box
from rich.table import Table

from ablations.data.datasets import lacks, load_dataset
from ablations.data.declared import DECLARATIONS, dataset_names, read_declaration
from ablations.data.schema import SplitDeclaration
from orchestration.console import output
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
