"""`studies/<id>/` and `searches/<id>/`: each kind of experiment has a folder with one file that says what was decided,
written before the first trial and never changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ablations.search import Search, read_search
from ablations.study import Study, read_study
from gonn_core.errors import Damaged, SettingError
from gonn_core.files.json_files import expected, present, tell, write_json
from reports.workspace import Workspace

D = TypeVar("D", Study, Search)
E = TypeVar("E", bound=Study | Search)
SHOWN = 8
"""Ids in an error."""


@dataclass(frozen=True)
class Kind(Generic[D]):
    """All experiments of one kind in a workspace. setting: name in errors of the beginning of an id."""

    parent: str
    file: str
    read: Callable[[Path], D]
    setting: str
    none_yet: str

    def folder(self, workspace: Workspace, experiment_id: str) -> Path:
        """Folder of one of them."""
        return workspace.root / self.parent / experiment_id

    def keep(self, workspace: Workspace, decided: D) -> D:
        """Write the file unless it is there; its content when it was first written."""
        path = self.folder(workspace, decided.id) / self.file
        try:
            if path.exists():
                return self.read(path)
        except Damaged as damage:  # its id names all that it decides
            tell(damage, "it is written again")
        write_json(path, decided.model_dump(mode="json"))
        return self.read(path)

    def all(self, workspace: Workspace) -> list[D]:
        """Those of a workspace, the latest last. Raises UserError for the first that is missing or damaged."""
        return _latest_last(self.read(path) for path in expected(workspace.root / self.parent, self.file))

    def whole(self, workspace: Workspace) -> list[D]:
        """Those of a workspace that can be read, the latest last; missing and damaged ones are logged."""
        experiments, again = [], "it is left out; the command that made it makes it again"
        for path in present(workspace.root / self.parent, self.file, again):
            try:
                experiments.append(self.read(path))
            except Damaged as damage:
                tell(damage, again)
        return _latest_last(experiments)

    def find(self, workspace: Workspace, beginning: str, setting: str | None = None) -> D:
        """The one whose id begins so; of several, the latest. Raises SettingError (`setting`)."""
        problem = f"no such {self.setting.lower()}"
        return latest_of(self.whole(workspace), beginning, setting or self.setting, problem, self.none_yet)


STUDIES = Kind("studies", "study.json", read_study, "STUDY", "none yet: make ablation NAME=… makes one")
SEARCHES = Kind("searches", "search.json", read_search, "SEARCH", "none yet: make lr-search NAME=… makes one")


def _latest_last(experiments: Iterable[D]) -> list[D]:
    return sorted(experiments, key=lambda experiment: (experiment.created, experiment.id))


def latest_of(experiments: Sequence[E], beginning: str, setting: str, problem: str, none_yet: str) -> E:
    """Of `experiments`, the latest last, the one of that id, else the latest whose id begins so, or ends with these six
    digits, which MLflow's names of experiments begin with. Raises SettingError naming the latest ids."""
    ids = [experiment.id for experiment in experiments]
    for experiment in reversed(experiments):
        if beginning in ids and experiment.id != beginning:
            continue
        if experiment.id.startswith(beginning) or experiment.id.endswith(f"-{beginning}"):
            return experiment
    raise SettingError(setting, beginning, problem, ids[-SHOWN:] or none_yet)
