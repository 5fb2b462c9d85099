"""A position store and its views, found again by the digests that a job names."""

from pathlib import Path

from gonn_core.errors import Damaged, InputError
from gonn_core.records.store import open_store
from gonn_core.records.views import View, open_view, read_digests, subset


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
