"""The YAML reader: what it types, and every input that it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ablations.strict_yaml import MAX_BYTES, parse_yaml, read_yaml
from gonn_core.errors import InputError


@pytest.mark.parametrize(
    "text, value",
    [
        ("5_000_000", 5_000_000),
        ("-7", -7),
        ("0.064", 0.064),
        ("1e-3", 1e-3),
        ("-.025", -0.025),
        ("true", True),
        ("null", None),
        ("", None),
        # Text, unlike in YAML 1.1: switches, dates, clock times, octal and hexadecimal numbers.
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("2018-01-31", "2018-01-31"),
        ("1:30", "1:30"),
        ("007", "007"),
        ("0x10", "0x10"),
        (".nan", ".nan"),
        ("'5'", "5"),
        ("1/3", "1/3"),
        ("5_0", "5_0"),
        ("9" * 41, "9" * 41),
    ],
)
def test_scalars(text, value):
    read = parse_yaml(f"a: {text}\n", "x.yaml")["a"]
    assert read == value and type(read) is type(value)


def test_structures():
    text = "toggles:\n  net.trunk.dilations: {off: [], on: [2, 3]}\nnote: >-\n  two\n  lines\n"
    assert parse_yaml(text, "x.yaml") == {
        "toggles": {"net.trunk.dilations": {"off": [], "on": [2, 3]}},
        "note": "two lines",
    }
    assert parse_yaml("# only a comment\n", "x.yaml") is None


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: &x [1]\nb: *x\n", "x.yaml: line 1: anchors (&name) are not allowed"),
        ("a: 1\nb: *x\n", "x.yaml: line 2: aliases (*name) are not allowed"),
        ("a: !!python/object/apply:os.system [ls]\n", "x.yaml: line 1: tags (!name) are not allowed"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml: line 3: duplicate key 'a'"),
        ("a: 1\n---\nb: 2\n", "x.yaml: line 2: more than one document"),
        ("? [a, b]\n: 1\n", "x.yaml: line 1: a key that is no plain text"),
        ("a: " + "[" * 25 + "]" * 25, "x.yaml: line 1: nested deeper than 20 levels"),
    ],
)
def test_refused(text, message):
    with pytest.raises(InputError) as error:
        parse_yaml(text, "x.yaml")
    assert str(error.value) == message


def test_broken_syntax_names_the_line():
    with pytest.raises(InputError, match=r"^x\.yaml: line 2: not valid YAML \(.+\)$"):
        parse_yaml("a: 1\n b: 2\n", "x.yaml")


def test_oversized_file(tmp_path):
    path = tmp_path / "big.yaml"
    path.write_text("# " + "x" * MAX_BYTES)
    with pytest.raises(InputError) as error:
        read_yaml(path)
    assert str(error.value) == f"{path}: larger than 256 KiB"


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_yaml(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_yaml(tmp_path / "latin.yaml")


@given(st.text(max_size=200))
def test_any_text_is_a_tree_or_an_input_error(text):
    try:
        parse_yaml(text, "x.yaml")
    except InputError as error:
        assert "\n" not in str(error)
