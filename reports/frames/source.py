"""What frames are read from: the studies and matches of a workspace, each read once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypedDict

from ablations.registry import Registry, load_registry
from ablations.study import Study, read_study
from gonn_core.errors import Damaged, InputError, SettingError
from gonn_core.files.json_files import tell
from gonn_core.play.match.record import Match, load_matches
from reports.results.decisions import load_results
from reports.results.group import Groups
from reports.results.study_results import StudyResults
from reports.study.report import Report, make_report
from reports.workspace import Workspace
from reports.worth.effects import Controls

Names = str | Iterable[str] | None
"""A name, several, or all (None)."""


class Where(TypedDict, total=False):
    """Which part of which workspace a frame holds."""

    workspace: Path | str | None
    """Its folder; None: $GONN_HOME or the current folder."""
    study: Names
    """Ids or their beginnings."""
    base: Names
    budget: Names
    data: Names


class Source:
    """A workspace and the chosen ones of its studies."""

    def __init__(
        self,
        workspace: Path | str | None = None,
        study: Names = None,
        base: Names = None,
        budget: Names = None,
        data: Names = None,
    ):
        """See `Where`. Raises InputError for a folder that does not exist or a damaged file, SettingError for a name
        that none of the workspace's studies has."""
        self.workspace = Workspace.here() if workspace is None else Workspace(Path(workspace).resolve())
        if not self.workspace.root.is_dir():
            raise InputError(self.workspace.root, "no such folder")
        studies = []
        for path in self.workspace.studies.glob("*/study.json"):
            try:
                studies.append(read_study(path))
            except Damaged as damage:
                tell(damage, "the study is left out")
        self.all_studies = sorted(studies, key=lambda study: (study.created, study.id))
        filters: dict[str, Names] = {"study": study, "base": base, "budget": budget, "data": data}
        self.filtered, self.studies = False, self.all_studies
        for setting, names in filters.items():
            if names is not None:
                chosen = _chosen(self.all_studies, setting, [names] if isinstance(names, str) else list(names))
                self.filtered, self.studies = True, [study for study in self.studies if study.id in chosen]
        self._results: dict[str, StudyResults] = {}

    @cached_property
    def registry(self) -> Registry:
        """The bundled declarations."""
        return load_registry()

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """All matches of the workspace."""
        return tuple(load_matches(self.workspace.matches))

    def results(self) -> Iterator[StudyResults]:
        """Results of every chosen study, the earliest first."""
        return map(self._load, self.studies)

    def reports(self) -> Iterator[Report]:
        """Reports of every chosen study that compares anything."""
        groups, controls = Groups(self.all_studies, self._load), Controls(self.all_studies, self._load)
        for results in self.results():
            if (study := results.study).evaluations and study.contrasts:
                yield make_report(results, self.registry, groups.of(study), controls.of(study))

    def _load(self, study: Study) -> StudyResults:
        if study.id not in self._results:
            workspace = self.workspace
            results = load_results(study, workspace.runs, workspace.studies / study.id, workspace.report_cache)
            self._results[study.id] = replace(results, played=self.matches)
        return self._results[study.id]


def _chosen(studies: Sequence[Study], setting: str, wanted: Sequence[str]) -> set[str]:
    """Ids of the studies that have one of these names. Raises SettingError for a name that none has."""
    names = {study.id: study.id if setting == "study" else getattr(study, setting) for study in studies}
    chosen: set[str] = set()
    for name in wanted:
        begins = setting == "study"
        matching = {id for id, value in names.items() if value == name or begins and value.startswith(name)}
        if studies and not matching:
            raise SettingError(setting, name, "no study of the workspace has it", sorted(set(names.values())))
        chosen |= matching
    return chosen
