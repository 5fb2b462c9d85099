"""A file is complete or absent; an empty one is damaged."""

from contextlib import contextmanager

import pytest

from gonn_core.errors import Damaged
from gonn_core.files.seals import check_tensors
from gonn_core.files.whole import write_whole


@pytest.mark.parametrize("flush", [True, False])
def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path, flush):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    write_whole(path, b"new", flush)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"] and path.read_bytes() == b"new"


def test_whoever_guards_the_renaming_sees_the_old_file_and_may_forbid_it(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    @contextmanager
    def forbidding():
        assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 2
        raise RuntimeError("not yours any more")
        yield

    with pytest.raises(RuntimeError, match="not yours"):
        write_whole(path, b"new", renaming=forbidding())
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"] and path.read_bytes() == b"old"


def test_an_emptied_file_is_damaged(tmp_path):
    (tmp_path / "5120.safetensors").touch()
    with pytest.raises(Damaged, match="5120.safetensors: damaged: it is empty; train it again"):
        check_tensors(tmp_path / "5120.safetensors", "train it again")
