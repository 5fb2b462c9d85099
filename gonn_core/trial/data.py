"""A position store and its views, found again by the digests that a job names."""

import json
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError
from gonn_core.records.store import open_store
from gonn_core.records.views import View, subset, view_digest


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
        for path in sorted(self._views_folder.glob("*/views.json")):
            try:
                digests = json.loads(path.read_text(encoding="utf-8"))["digests"]
                split = next((split for split, named in digests.items() if named == digest), None)
                if split is None:
                    continue
                view = View(self.store, split, np.load(path.parent / f"{split}.npy", mmap_mode="r"), digest)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    path.parent, f"damaged views ({error}); delete the folder and prepare the data again"
                ) from None
            if len(view.rows) == 0:
                raise InputError(path.parent, f"the {split} split has no positions")
            if view.rows[-1] >= len(self.store) or view_digest(self.store, view.rows) != digest:
                raise InputError(
                    path.parent / f"{split}.npy",
                    f"not the view {digest} of store {self.store.digest}; prepare the data again",
                )
            return view
        raise InputError(self._views_folder, f"no view {digest}; prepare the data of this trial first")
