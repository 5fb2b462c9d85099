"""Declarations of data sets (datasets/*.yaml), and whose claims their games can judge."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from ablations.data.schema import DatasetDeclaration
from ablations.strict_yaml import read_yaml
from gonn_core.config import parse_model
from gonn_core.errors import SettingError

DECLARATIONS: Final = Path(__file__).parents[1] / "datasets"
TEMPLATE: Final = "path"
_YEARS = re.compile(r"(\d+) of (\d+) training years")


def dataset_names() -> list[str]:
    """Names of the declared data sets."""
    return sorted(path.stem for path in DECLARATIONS.glob("*.yaml") if path.stem != TEMPLATE)


def read_declaration(path: Path) -> DatasetDeclaration:
    """A declaration file, checked. Raises SettingError or InputError."""
    declaration = parse_model(DatasetDeclaration, read_yaml(path), path.stem)
    if declaration.name != path.stem:
        raise SettingError(f"{path.stem}.name", declaration.name, "not the name of its file", path.stem)
    return declaration


def read_declarations() -> dict[str, DatasetDeclaration]:
    """Name -> declaration, of all of them and the template. Raises SettingError or InputError."""
    return {path.stem: read_declaration(path) for path in sorted(DECLARATIONS.glob("*.yaml"))}


@cache
def judges_claims(data: str) -> bool:
    """Whether a claim can be judged on a study's data set; one of the user's own judges those that name no games."""
    path = DECLARATIONS / f"{data}.yaml"
    return data == TEMPLATE or not path.is_file() or read_declaration(path).judges_claims


def years_lacking(coverage: str) -> str:
    """`4 of 15 training years` where a study's coverage says that games of some years were not there, else nothing."""
    found = _YEARS.search(coverage)
    return found[0] if found and found[1] != found[2] else ""


def path_label(name: str) -> str:
    """What a data set given as a path is called, never as a declared one."""
    return f"{name} (path)" if name in dataset_names() or name == TEMPLATE else name
