"""Cazenave's ladder marks kept beside a store: the planes are the same, damage is found, and a trial has them made
where it should."""

import hashlib
import json
import logging
from types import SimpleNamespace

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.features import stored_ladders
from gonn_core.features.planes import make_planes
from gonn_core.features.source import plane_source
from gonn_core.features.stored_ladders import FOLDER, make_marks, open_marks, wants_marks
from gonn_core.files.json_files import read_json
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.trial.data import prepare_planes
from gonn_core.trial.events import PauseAsked, Preparing
from tests.features.configs import CAZENAVE
from tests.features.helpers import make_set


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two games of stones thrown on the left third of the board, where they soon lie in contact."""
    monkeypatch.setattr(stored_ladders, "CHUNK", 16)
    (tmp_path / "games").mkdir()
    for seed in range(2):
        points = np.random.default_rng(seed).permutation(7 * 19)[:50]
        moves = "".join(f";{'BW'[k % 2]}[{chr(97 + p % 7)}{chr(97 + p // 7)}]" for k, p in enumerate(points))
        (tmp_path / "games" / f"{seed}.sgf").write_text(f"(;GM[1]SZ[19]PB[a]PW[b]{moves})")
    return prepare_store([GameSource(tmp_path / "games")], tmp_path / "stores")


def planes_of(store, rows, symmetries, stored):
    out, targets = np.empty((len(rows), 45, 361), np.uint8), np.empty(len(rows), np.int64)
    keep = np.full(len(rows), 5, np.uint8)
    make_planes(CAZENAVE, plane_source(store), rows, symmetries, keep, out, targets, stored)
    return out


def test_planes_looked_up_are_those_searched_for(store):
    told = []
    stored = make_marks(store, 2, lambda done, of: told.append((done, of)))
    assert told[-1] == (len(store), len(store)) and len(told) > 2
    generator = np.random.default_rng(0)
    rows, symmetries = generator.integers(0, len(store), 200), generator.integers(0, 8, 200).astype(np.uint8)
    planes = planes_of(store, rows, symmetries, stored)
    assert np.array_equal(planes, planes_of(store, rows, symmetries, None))
    assert np.array_equal(planes, make_set(CAZENAVE, plane_source(store), rows, symmetries)[0])
    assert planes[:, 31:38].any((0, 2)).sum() >= 6, "these boards have ladders"
    again = make_marks(store, report=told.clear)
    assert told and np.array_equal(again.marks, stored.marks), "found, not made"
    with pytest.raises(ValueError, match="stored marks of"):
        shorter = SimpleNamespace(**{name: getattr(store, name)[:9] for name in ("stones", "ladders", "moves")})
        planes_of(shorter, rows[:1] % 9, symmetries[:1], stored)


@pytest.mark.parametrize(
    "name, damage",
    [
        ("first.npy", "a byte"),
        ("marks.npy", "half"),
        ("marks.npy", "gone"),
        ("manifest.json", "a byte"),
        ("manifest.json", "gone"),
        ("marks.npy", "another store's"),
    ],
)
def test_damage_is_found_and_mended(store, name, damage, caplog):
    whole = [np.array(array) for array in make_marks(store)]  # not the mapped file, which is damaged below
    path = store.folder / FOLDER / name
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    elif damage == "another store's":
        store.digest = "0" * 20
    else:
        data[-5] ^= 1
        path.write_bytes(data if damage == "a byte" else data[: len(data) // 2])
    with caplog.at_level(logging.INFO):
        assert open_marks(store) is None and "searched anew" in caplog.text
    assert not (store.folder / FOLDER).exists()
    mended = make_marks(store)
    assert all(np.array_equal(*arrays) for arrays in zip(mended, whole, strict=True))


@pytest.mark.parametrize(
    "name, place, number", [("marks.npy", -1, 8 * 361), ("first.npy", 1, -1), ("first.npy", -1, 7)]
)
def test_marks_out_of_range_are_not_used(store, caplog, name, place, number):
    """Also where their digest fits: kernels test no bounds."""
    make_marks(store)
    folder = store.folder / FOLDER
    array, manifest = np.load(folder / name), read_json(folder / "manifest.json")
    array[place] = number
    np.save(folder / name, array)
    manifest["arrays"][name]["sha256"] = hashlib.sha256(array.tobytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with caplog.at_level(logging.INFO):
        assert open_marks(store) is None and "numbers out of range" in caplog.text


def test_they_are_made_for_large_trials_on_a_gpu():
    assert wants_marks(CAZENAVE, "cuda", 250, 1000) and not wants_marks(CAZENAVE, "cuda", 249, 1000)
    assert not wants_marks(CAZENAVE, "cpu", 10**6, 1000), "there the net takes the time"
    assert not wants_marks(CAZENAVE.model_copy(update={"ladders": False}), "cuda", 10**6, 1000)
    assert not wants_marks(FeatureConfig(), "cuda", 10**6, 1000), "GoNN's are in the store"


def job(samples):
    training = SimpleNamespace(samples=samples)
    return SimpleNamespace(id="t", config=SimpleNamespace(training=training, features=CAZENAVE))


def test_a_trial_has_them_made_and_tells(store):
    events, data = [], SimpleNamespace(store=store)
    prepare_planes(job(1), data, "cuda", 1, events.append)
    prepare_planes(job(100), data, "cpu", 1, events.append)
    assert not events and open_marks(store) is None
    with pytest.raises(PauseAsked):
        prepare_planes(job(100), data, "cuda", 1, lambda event: False)
    assert open_marks(store) is None
    prepare_planes(job(100), data, "cuda", 1, events.append)
    assert isinstance(events[0], Preparing) and events[0].of == len(store) and open_marks(store) is not None
