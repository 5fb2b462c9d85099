"""The declarations of a folder, each read when somebody asks for it.

Layout: `cards/<system>/<id>.yaml`, `bases/<id>.yaml`, `budgets/<id>.yaml`, `published/<id>.yaml`; a file's name is its
declaration's id. What one file can tell by itself is checked when it is read; what needs others is checked by
`ablations.checks`.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from ablations.published_results import Published
from ablations.schema import Base, Budget, Enhancement
from ablations.strict_yaml import read_yaml
from gonn_core.config import Model, parse_model
from gonn_core.errors import InputError, SettingError, printable

FOLDER = Path(__file__).parent
SHOWN = 8
"""At most so many ids are listed when one is not known."""
_NO_CLAIMS = "claims: [] where it claims nothing"
Declared = TypeVar("Declared", Enhancement, Base, Budget, Published)


@dataclass(frozen=True)
class Declarations:
    """Declarations by id, each mapping in the order of the ids. Reading one raises InputError or SettingError when its
    file is bad."""

    cards: Mapping[str, Enhancement]
    bases: "Files[Base]"
    budgets: Mapping[str, Budget]
    published: Mapping[str, Published]


def nearest(name: str, ids: Iterable[str]) -> list[str]:
    """All ids, the most like `name` first; equals in alphabetical order."""
    matcher = difflib.SequenceMatcher(b=name[:100])

    def unlikeness(candidate):
        matcher.set_seq1(candidate)
        return -matcher.ratio(), candidate

    return sorted(ids, key=unlikeness)


def find(declared: Mapping[str, Declared], setting: str, name: str, problem: str) -> Declared:
    """The declaration of that id; else SettingError with the nearest ids."""
    if name in declared:
        return declared[name]
    ids = nearest(name, declared)
    valid = ", ".join(ids[:SHOWN]) + (f", … ({len(ids)} in all)" if len(ids) > SHOWN else "")
    raise SettingError(setting, name, problem, valid or "none")


class Files(Mapping[str, Model]):
    """Declarations of one kind by id, in the order of the ids; each file is read once, when it is asked for."""

    def __init__(self, folder: Path, kind: str, pattern: str, model: type[Model]):
        """Raises InputError for a file of declarations elsewhere, SettingError for two of one id."""
        self._folder, self._model = folder, model
        self._read: dict[str, Model] = {}
        self._paths: dict[str, Path] = {}
        paths = sorted((folder / kind).glob(pattern))
        for path in sorted({*(folder / kind).rglob("*.yaml"), *(folder / kind).rglob("*.yml")} - set(paths)):
            place = pattern.replace("*/", "<system>/").replace("*", "<id>")
            raise InputError(path, f"not where declarations lie: {kind}/{place}")
        for path in paths:
            if path.stem in self._paths:
                raise SettingError(f"{self._name(path)}.id", path.stem, "another card has this id")
            self._paths[path.stem] = path
        self._paths = dict(sorted(self._paths.items()))

    def __getitem__(self, name: str) -> Model:
        if name not in self._read:
            self._read[name] = self._parsed(self._paths[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def take(self, path: Path) -> str:
        """Read a file from anywhere; the declaration's id is then the file's name, which is returned."""
        self._paths[path.name] = path
        self._read[path.name] = self._parsed(path).model_copy(update={"id": path.name})
        return path.name

    def _name(self, path: Path) -> str:
        return printable((path.relative_to(self._folder) if path.is_relative_to(self._folder) else path).as_posix())

    def _parsed(self, path: Path) -> Model:
        try:
            found = path.stat()
            stamp = found.st_mtime_ns, found.st_size
        except OSError:  # the reader says why
            stamp = 0, 0
        return _declaration(path, self._name(path), self._model, stamp)


@lru_cache(1024)
def _declaration(path: Path, name: str, model: type[Model], stamp: tuple[int, int]) -> Model:
    """What a file declares. It is read again when it has changed (`stamp`): a command uses several registries, and
    parsing all files takes half a second."""
    tree = read_yaml(path)
    if model is Enhancement and isinstance(tree, dict) and "claims" not in tree:
        raise SettingError(f"{name}.claims", "(missing)", "a card says what its document claims", _NO_CLAIMS)
    declaration = parse_model(model, tree, name)
    named = {"id": (path.stem, "file")}
    if model is Enhancement:
        named["system"] = (path.parent.name, "folder")
    for field, (wanted, what) in named.items():
        if getattr(declaration, field) != wanted:
            problem = f"differs from the {what}'s name"
            raise SettingError(f"{name}.{field}", getattr(declaration, field), problem, printable(wanted))
    return declaration


def read_declarations(folder: Path) -> dict[str, Files]:
    """The four kinds in a folder. Raises InputError, or SettingError for two cards of one id."""
    if not folder.is_dir():
        raise InputError(folder, "no such folder of declarations")
    return {
        "cards": Files(folder, "cards", "*/*.yaml", Enhancement),
        "bases": Files(folder, "bases", "*.yaml", Base),
        "budgets": Files(folder, "budgets", "*.yaml", Budget),
        "published": Files(folder, "published", "*.yaml", Published),
    }
