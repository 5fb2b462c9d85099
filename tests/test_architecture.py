"""The walls of the house: imports run orchestration -> reports -> ablations -> gonn_core; heavy libraries have one door
each."""

import ast
import functools
import graphlib
import subprocess
import sys

import pytest

from tests.paths import ROOT

PACKAGES = ["gonn_core", "ablations", "reports", "orchestration"]
DOORS = {
    "ray": {"orchestration/runners/ray_tune.py"},
    "mlflow": {"orchestration/tracking/client.py"},
    "optuna": {"orchestration/search/optuna_rates.py"},
    "pandas": {"reports/frames/__init__.py", "reports/frames/rows.py"},
}
CORE_MAY_IMPORT = {"torch", "numpy", "numba", "llvmlite", "sgfmill", "pydantic", "safetensors", "filelock", "gonn_core"}


def sources(package):
    return sorted((ROOT / package).rglob("*.py"))


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sources(package)
}
"""Every module of the product by its dotted name."""
ROOMS = sorted({path.parent for path in MODULES.values()})
MOST_MODULES_IN_A_ROOM = 24


@functools.cache
def import_nodes(path):
    """All import statements of a file, also those inside functions."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(path):
    """Top-level names of modules that a file imports, anywhere in it."""
    names = set()
    for node in import_nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        else:
            names.add(node.module.split(".")[0])
    return names


def imported_modules(path):
    """Modules of the product that a file imports, anywhere in it; a package stands for its own `__init__`."""
    modules = set()
    for node in import_nodes(path):
        for alias in node.names:
            whole = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
            parent = whole if isinstance(node, ast.Import) else node.module
            modules |= {name for name in (whole, parent) if name in MODULES} - ({parent} if whole in MODULES else set())
    return modules


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package):
    allowed = set(PACKAGES[: PACKAGES.index(package) + 1])
    for path in sources(package):
        assert imported(path) & set(PACKAGES) <= allowed, path
        assert not imported(path) & {"tests", "benchmarks", "scripts"}, path


def test_no_module_imports_itself_by_a_detour():
    """Imports inside functions count: they hide a circle, they do not open it."""
    graph = {name: imported_modules(path) - {name} for name, path in MODULES.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_names_with_an_underscore_stay_in_their_module():
    for path in MODULES.values():
        for node in import_nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in PACKAGES:
                private = [alias.name for alias in node.names if alias.name.startswith("_")]
                assert not private, f"{path} imports {private} of {node.module}"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_a_room_can_be_looked_over(room):
    """A family of files with one prefix is a folder that was not made."""
    modules = [path.stem for path in room.glob("*.py") if path.stem not in ("__init__", "__main__")]
    assert len(modules) <= MOST_MODULES_IN_A_ROOM, sorted(modules)


def test_heavy_libraries_have_one_door():
    for package in PACKAGES:
        for path in sources(package):
            for library, doors in DOORS.items():
                if library in imported(path):
                    assert path.relative_to(ROOT).as_posix() in doors, f"{path} imports {library}"


def test_core_needs_little():
    """What runs on a bare machine imports nothing beyond torch, numpy, numba, sgfmill, pydantic, safetensors and the
    standard library; and filelock, which torch itself needs and thus brings."""
    for path in sources("gonn_core"):
        extra = imported(path) - CORE_MAY_IMPORT - set(sys.stdlib_module_names)
        assert not extra, f"{path} imports {extra}"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from orchestration import cli\n"
        "code = cli.run(['--help'])\n"
        "heavy = {'torch', 'ray', 'mlflow', 'numba', 'pandas', 'optuna', 'matplotlib', 'scipy'} & set(sys.modules)\n"
        "assert code == 0 and not heavy, (code, heavy)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
