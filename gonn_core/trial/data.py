"""A position store and its views, found again by the digests that a job names."""

import time
from pathlib import Path

from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.features.stored_ladders import make_marks, wants_marks
from gonn_core.records.store import open_store
from gonn_core.records.views import View, open_view, read_digests, subset
from gonn_core.trial.events import Changed, OnProgress, PauseAsked, Preparing
from gonn_core.trial.job import Job

_TICK_SECONDS = 1.0


class TrialData:
    """The store in a folder `<stores>/<digest>`, with the views in `<stores>/views`."""

    def __init__(self, folder: Path | str):
        self.store = open_store(Path(folder))
        self._views_folder = Path(folder).parent / "views"
        self._views: dict[str, View] = {}

    def view(self, digest: str) -> View:
        """The view of that digest, checked against it. Raises InputError when there is none, or when it is damaged."""
        if digest not in self._views:
            self._views[digest] = self._open(digest)
        return self._views[digest]

    def subset(self, digest: str, minimum_positions: int, seed: int) -> View:
        """Whole games of the view `digest`: `gonn_core.records.views.subset`."""
        return subset(self.view(digest), minimum_positions, seed)

    def _open(self, digest: str) -> View:
        damages = []
        for path in sorted(self._views_folder.glob("*/views.json")):
            try:
                named = read_digests(path.parent)
                split = next((split for split, each in named.items() if each == digest), None)
                if split is None:
                    continue
                view = open_view(self.store, path.parent, split, digest)
            except Damaged as damage:  # it may be another one's, or there may be a second one
                damages.append(damage)
                continue
            if len(view.rows) == 0:
                raise InputError(path.parent, f"the {split} split has no positions")
            return view
        if damages:
            raise Damaged(damages[0].path, f"{damages[0].problem}; prepare the data again")
        raise InputError(self._views_folder, f"no view {digest}; prepare the data of this trial first")


def prepare_planes(job: Job, data: TrialData, device: str, threads: int, on_progress: OnProgress) -> None:
    """Have planes made and stored for the whole data set that would keep a device of this type waiting if each batch
    searched for them; where its folder takes no files they are searched for, and that is told. Raises PauseAsked when
    asked to."""
    samples, due = job.config.training.samples, time.monotonic()
    if not wants_marks(job.config.features, device, samples, len(data.store)):
        return

    def report(positions: int, of: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + _TICK_SECONDS
            if on_progress(Preparing(job.id, 0, samples, positions=positions, of=of)) is False:
                raise PauseAsked

    try:
        report(0, len(data.store))
        make_marks(data.store, threads, report)
    except UserError as error:
        line = f"ladder planes are not stored but searched for, batch by batch: {str(error).splitlines()[0]}"
        on_progress(Changed(job.id, 0, samples, message=line))
