"""The registry: declarations by name, checked against the configuration schema and each other when they are used.

    registry = load_registry()
    card = registry.card("parametric_relu")

A bad declaration is one line naming the file and the setting, as soon as somebody uses it; `check` (`gonn check`) goes
through all of them. Needs only pydantic and PyYAML.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ablations.checks import check_base, check_budget, check_card, check_published
from ablations.declarations import FOLDER, Declarations, Declared, find, read_declarations
from ablations.lookup import find_card
from ablations.schema import YAML, Base, Budget, Enhancement
from gonn_core.errors import UserError


@dataclass(frozen=True)
class Registry(Declarations):
    """Declarations by name. Its methods check what they give; its mappings are as the files say."""

    _checked: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)

    def card(self, name: str) -> Enhancement:
        """The enhancement of that id. Raises SettingError (NAME) listing those that the name may have meant, or what is
        wrong with it; UserError where none is given."""
        return self._sound("card", find_card(self, name), check_card)

    def base(self, name: str) -> Base:
        """The base of that id or further name, or in a YAML file anywhere, whose name is then its id. Raises
        SettingError (BASE), InputError, UserError where none is given."""
        if not name.strip():
            count = len(self.bases)
            raise UserError(f"BASE: not given; for example BASE=gonn-b5; `gonn list --bases` shows all {count}")
        if name.endswith(YAML) and name not in self.bases:
            name = self.bases.take(Path(name))
        if name not in self.bases:
            name = next((base.id for base in self.bases.values() if name in base.also_called), name)
        return self._sound("base", find(self.bases, "BASE", name, "no such base"), check_base)

    def budget(self, name: str) -> Budget:
        """The budget of that id. Raises SettingError (BUDGET)."""
        return self._sound("budget", find(self.budgets, "BUDGET", name, "no such budget"), check_budget)

    def check(self) -> None:
        """Read and check everything. Raises InputError or SettingError at the first bad declaration."""
        for name in self.bases:
            self.base(name)
        for name in self.budgets:
            self.budget(name)
        for name in self.cards:
            self.card(name)
        for published in self.published.values():
            check_published(self, published)

    def _sound(self, kind: str, declared: Declared, check: Callable[[Declarations, Declared], None]) -> Declared:
        if (kind, declared.id) not in self._checked:
            check(self, declared)
            self._checked.add((kind, declared.id))
        return declared


def load_registry(folder: Path | None = None) -> Registry:
    """The declarations of `folder` (those of this package unless given). Raises InputError or SettingError for files
    out of place."""
    return Registry(**read_declarations(FOLDER if folder is None else Path(folder)))
