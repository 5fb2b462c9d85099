"""A position store and its views, found again by the digests that a job names."""

from pathlib import Path

from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.features.stored_ladders import make_marks, wants_marks
from gonn_core.records.store import open_store
from gonn_core.records.views import View, open_view, read_digests
from gonn_core.trial.events import Mended, OnProgress, Preparing, every_second
from gonn_core.trial.job import Job


class TrialData:
    """The store in a folder `<stores>/<digest>`, with the views in `<stores>/views`."""

    def __init__(self, folder: Path | str):
        self.store = open_store(Path(folder))
        self._views_folder = Path(folder).parent / "views"

    def view(self, digest: str) -> View:
        """The view of that digest, checked against it. Raises InputError when it is missing, empty or damaged."""
        damage = None
        for path in sorted(self._views_folder.glob("*/views.json")):
            try:
                split = next((split for split, name in read_digests(path.parent).items() if name == digest), None)
                if split is None:
                    continue
                view = open_view(self.store, path.parent, split, digest)
            except Damaged as error:  # it may be another view's, or there may be a second copy
                damage = damage or error
                continue
            if len(view.rows) == 0:
                raise InputError(path.parent, f"the {split} split has no positions")
            return view
        if damage:
            raise Damaged(damage.path, f"{damage.problem}; prepare the data again")
        raise InputError(self._views_folder, f"no view {digest}; prepare the data of this trial first")


def prepare_planes(job: Job, data: TrialData, device: str, threads: int, on_progress: OnProgress) -> None:
    """Make and store planes of the whole data set that a device of this type would have to wait for in each batch.

    Where they cannot be stored, each batch computes its own, and an event says so. Raises PauseAsked when asked to.
    """
    samples = job.config.training.samples
    if not wants_marks(job.config.features, device, samples, len(data.store)):
        return
    report = every_second(on_progress, lambda positions, of: Preparing(job.id, 0, samples, positions=positions, of=of))
    try:
        report(0, len(data.store))
        make_marks(data.store, threads, report)
    except UserError as error:
        line = f"ladder planes are not stored but searched for, batch by batch: {str(error).splitlines()[0]}"
        on_progress(Mended(job.id, 0, samples, message=line))
