"""What reports keep of their work: the same as made anew, and made anew whenever what it is made from has changed."""

import pytest

from reports.cache import cached, code, keep, read


@pytest.fixture
def make():
    """Counts how often something is made: `make.times`."""

    def make() -> bytes:
        make.times += 1
        return b"value %d" % make.times

    make.times = 0
    return make


def test_a_value_is_made_again_only_when_its_inputs_change(tmp_path, make):
    path = tmp_path / "folder" / "x"
    for inputs in ((1.0, "a"), (1.0, "a"), (2.0, "a"), (2.0, "a"), (1.0, "a")):
        cached(path, inputs, make)
    assert make.times == 3 and read(path, (1.0, "a")) == b"value 3" and read(path, (2.0, "a")) is None
    assert [file.name for file in path.parent.iterdir()] == ["x"], "old values are no litter"


def test_a_damaged_value_is_made_again(tmp_path, make):
    path = tmp_path / "x"
    whole = [cached(path, 1, make), path.read_bytes()][1]
    for damaged in (b"", b"x" * 80, whole[:-1], whole + b"x", bytes([whole[0] ^ 1]) + whole[1:]):
        path.write_bytes(damaged)
        assert read(path, 1) is None and cached(path, 1, make) == b"value %d" % make.times
    assert make.times == 6


def test_nothing_is_kept_without_a_place_or_where_none_can_be_written(tmp_path, make):
    (tmp_path / "file").write_bytes(b"")
    for place in (None, tmp_path / "file" / "below"):
        assert cached(place, 1, make) == b"value %d" % make.times
        keep(place, 1, b"")
        assert read(place, 1) is None
    keep(tmp_path / "x", "inputs", b"")  # an empty value is a value
    assert read(tmp_path / "x", "inputs") == b"" and read(tmp_path / "x", "others") is None


def test_code_is_that_of_modules_and_packages_with_declarations_and_templates(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "some_package" / "below"
    package.mkdir(parents=True)
    (tmp_path / "some_package" / "__init__.py").write_text("")
    (tmp_path / "some_module.py").write_text("")
    seen = set()
    for name in ("a.py", "a.yaml", "a.md.j2", "a.json", "a.npz", "notes.txt"):
        (package / name).write_text(name)
        code.cache_clear()
        seen.add(code("some_package"))
    assert len(seen) == 5, "notes are no code"
    assert code("some_module") == code("some_module") != code("some_module", libraries=("numpy",))
