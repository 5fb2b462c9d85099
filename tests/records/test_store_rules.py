"""The name of the rules that stores are made by (`numerics.STORE_RULES`) stands for what those sources say, however
they are laid out.

When `test_the_rules_say_what_they_said` fails: if a store of some archive would hold anything else now, give
STORE_RULES a new text, so that old stores are built anew. If not, only the fingerprint below changes.
"""

import ast
import hashlib
from pathlib import Path

import gonn_core
from ablations.data.datasets import load_dataset
from gonn_core import numerics
from gonn_core.records.build import prepare_store

CORE = Path(gonn_core.__file__).parent
SOURCES = ("go/*.py", "records/archives/*.py", "records/sgf.py", "records/batches.py")
FINGERPRINT = "0eb009d358bf0ede"
STARTER_STORE, STARTER_INDEX = "74eef8017f7618c10c37", "cb8a217295469332be14"


def said(node) -> str:
    """A syntax tree as text: without docstrings, imports, annotations and positions, the same under all versions of
    Python."""
    if isinstance(node, list):
        return "[" + ",".join(said(item) for item in node if not _is_silent(item)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = (
        (name, value)
        for name, value in ast.iter_fields(node)
        if name not in ("annotation", "returns", "type_params", "kind")
    )
    return (
        type(node).__name__
        + "("
        + ",".join(f"{name}={said(value)}" for name, value in fields if value not in (None, []))
        + ")"
    )


def _is_silent(node) -> bool:
    docstring = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return docstring or isinstance(node, (ast.Import, ast.ImportFrom))


def fingerprint() -> str:
    """Of all rules: of definitions, whichever file each stands in and in whatever order."""
    files = [path for pattern in SOURCES for path in CORE.glob(pattern)]
    statements = [
        said(node)
        for path in files
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if not _is_silent(node)
    ]
    return hashlib.sha256("\n".join(sorted(statements)).encode()).hexdigest()[:16]


def test_the_rules_say_what_they_said():
    assert (fingerprint(), numerics.STORE_RULES[:8]) == (FINGERPRINT, "0c3833c6")


def test_the_bundled_games_make_the_store_that_they_made(tmp_path):
    assert prepare_store(load_dataset("starter", None).sources, tmp_path).digest == STARTER_STORE
    assert (tmp_path / "index" / f"{STARTER_INDEX}.json").is_file()
