"""Where kernels of play are, which the name of the kernel cache does not cover (gonn_core/go/jit.py)."""

import ast

from tests.test_architecture import ROOT, sources


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), {alias.name for alias in node.names}


def test_kernels_of_play_are_in_one_file_that_calls_only_what_the_hash_covers():
    """Then numba's own look at that file is enough: nothing stale is ever called, and an edit there compiles nothing
    else anew."""
    compiled = {
        path.name
        for path in sources("gonn_core/play")
        for module, names in _imports(path)
        if module == "gonn_core.go.jit" and "kernel" in names
    }
    assert compiled == {"kernels.py"}
    modules = {module for module, _ in _imports(ROOT / "gonn_core/play/kernels.py")}
    assert all(
        module.startswith(("gonn_core.go.", "gonn_core.features.", "gonn_core.records.")) for module in modules
    ), modules


def test_no_kernel_elsewhere_calls_those_of_play():
    for package in ("go", "records", "features", "evaluation"):
        for path in sources(f"gonn_core/{package}"):
            assert not any("play" in module.split(".") for module, _ in _imports(path)), path
