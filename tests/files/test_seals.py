"""A safetensors file without a byte is damaged: a report leaves its net out instead of ending."""

import pytest

from gonn_core.errors import Damaged
from gonn_core.files.seals import check_tensors


def test_an_emptied_file_is_damaged(tmp_path):
    path = tmp_path / "5120.safetensors"
    path.write_bytes(b"")
    with pytest.raises(Damaged, match="5120.safetensors: damaged: it is empty; train it again"):
        check_tensors(path, "train it again")
