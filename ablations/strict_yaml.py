"""The part of YAML that declarations use: mappings, lists and plain scalars, read from parser events alone.

Nothing is ever constructed from a tag. Anchors, aliases, tags, a second document, duplicate keys, keys that are no
text, files above 256 KiB and deep nesting are errors (DESIGN: No surprise from input). Plain scalars are typed as JSON
does: `true`, `false`, `null`, whole numbers (`5_000_000` too) and decimals (`1e-3` too); all else is text, so that
`on`, `off` and dates stay what they look like.
"""

import re
from pathlib import Path

import yaml

from gonn_core.errors import InputError, printable

MAX_BYTES = 256 * 1024
MAX_DEPTH = 20
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*(_[0-9]{3})*)$")
_DECIMAL = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?$")
_LONGEST_NUMBER = 40


def read_yaml(path: Path):
    """The tree in a file. Raises InputError naming the file, the line and the problem."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(path, error.strerror or "cannot be read") from None
    if len(data) > MAX_BYTES:
        raise InputError(path, f"larger than {MAX_BYTES // 1024} KiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(path, "not UTF-8 text") from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path):
    """The tree in `text`; `path` names it in errors. An empty document is None."""
    try:
        return _Reader(yaml.parse(text, Loader=_LOADER), path).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise InputError(path, f"{where}not valid YAML ({error.problem or error.context})") from None
    except yaml.YAMLError:
        raise InputError(path, "not valid YAML (a character that it does not allow)") from None


class _Reader:
    """Builds one document's tree from parser events."""

    def __init__(self, events, path):
        self.events, self.path = events, path

    def fail(self, event, problem: str):
        raise InputError(self.path, f"line {event.start_mark.line + 1}: {problem}")

    def next(self):
        event = next(self.events)
        if isinstance(event, yaml.AliasEvent):
            self.fail(event, "aliases (*name) are not allowed")
        if getattr(event, "anchor", None) is not None:
            self.fail(event, "anchors (&name) are not allowed")
        if getattr(event, "tag", None) is not None:
            self.fail(event, "tags (!name) are not allowed")
        return event

    def document(self):
        self.next()  # start of stream
        if isinstance(self.next(), yaml.StreamEndEvent):
            return None
        tree = self.node(self.next(), 0)
        self.next()  # end of document
        event = self.next()
        if not isinstance(event, yaml.StreamEndEvent):
            self.fail(event, "more than one document")
        return tree

    def node(self, event, depth: int):
        if depth > MAX_DEPTH:
            self.fail(event, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(depth)
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(event := self.next(), yaml.SequenceEndEvent):
                items.append(self.node(event, depth + 1))
            return items
        return self.scalar(event)

    def mapping(self, depth: int) -> dict:
        tree: dict = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self.fail(event, "a key that is no plain text")
            if event.value in tree:
                self.fail(event, f"duplicate key '{printable(event.value, 60)}'")
            tree[event.value] = self.node(self.next(), depth + 1)
        return tree

    def scalar(self, event):
        text = event.value
        if not event.implicit[0]:  # quoted or a text block
            return text
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > _LONGEST_NUMBER:
            return text
        if _WHOLE.match(text):
            return int(text)
        if _DECIMAL.match(text):
            return float(text)
        return text
