"""Which games of a store call their record corrupt, anywhere in their text: go-NN's filter (find_bad_sgfs.sh searches
the whole file).

Not part of the store, whose digest is part of the identity of all that is trained on it: found in the archives when a
filter first asks, and kept next to the store's arrays.
"""

import logging

import numpy as np

from gonn_core.errors import Damaged, UserError
from gonn_core.files.json_files import read_json, write_json
from gonn_core.go import layout
from gonn_core.records.archives.members import read_members
from gonn_core.records.archives.reading import ArchiveReading
from gonn_core.records.store import Store

_LOG = logging.getLogger(__name__)
_WORD = b"corrupt"  # in letters of any case: "corrupted", "Corruption"


def corrupt_games(store: Store) -> np.ndarray:
    """(G,) bool. Raises InputError for archives that cannot be read or a file that cannot be written, UserError for a
    store whose archives are not known."""
    if store.made_from is None:
        raise UserError(
            f"store {store.digest}: which games call themselves corrupt stands in its archives; prepare the data again"
        )
    path = store.folder / f"corrupt-{store.made_from.key}.json"
    try:
        if path.is_file():
            return _marks(store, read_json(path)["games"])
    except (Damaged, LookupError, TypeError, ValueError):
        _LOG.info("%s: damaged; it is made again", path)
    corrupt = _found(store)
    write_json(path, {"games": np.flatnonzero(corrupt).tolist()})
    return corrupt


def _marks(store: Store, games: list[int]) -> np.ndarray:
    corrupt = np.zeros(len(store.games), np.bool_)
    corrupt[games] = True
    return corrupt


def _found(store: Store) -> np.ndarray:
    # With sgfmill behind them, which a machine that only trains lacks.
    from gonn_core.records.batches import numbered_name, stored_name
    from gonn_core.records.sgf.properties import game_texts, without_utf16

    assert store.made_from is not None, "corrupt_games has looked"
    corrupt = store.games["flags"] & layout.GAME_CORRUPT_COMMENT != 0
    called = {
        (index, stored_name(numbered_name(name, number)))
        for index, path in enumerate(store.made_from.archives)
        for name, data in read_members(path, ArchiveReading())
        if _WORD in (words := without_utf16(data)).lower()
        for number, text in enumerate(game_texts(words), 1)
        if _WORD in text.lower()
    }
    if called:
        first, length = store.games["name_first"], store.games["name_length"]
        for game, source in enumerate(store.games["source"].tolist()):
            name = bytes(store.names[first[game] : first[game] + length[game]])
            corrupt[game] |= (source, name) in called
    return corrupt
