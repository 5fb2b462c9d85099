"""The walls of the house: imports run orchestration -> reports -> ablations -> gonn_core; heavy libraries have one door
each."""

import ast
import subprocess
import sys

import pytest

from tests.paths import ROOT

PACKAGES = ["gonn_core", "ablations", "reports", "orchestration"]
DOORS = {
    "ray": {"orchestration/runners/ray_tune.py"},
    "mlflow": {"orchestration/tracking/writer.py"},
    "optuna": {"orchestration/search/optuna_rates.py"},
}
CORE_MAY_IMPORT = {"torch", "numpy", "numba", "llvmlite", "sgfmill", "pydantic", "safetensors", "filelock", "gonn_core"}


def sources(package):
    return sorted((ROOT / package).rglob("*.py"))


def imported(path):
    """Top-level names of modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package):
    allowed = set(PACKAGES[: PACKAGES.index(package) + 1])
    for path in sources(package):
        assert imported(path) & set(PACKAGES) <= allowed, path
        assert not imported(path) & {"tests", "benchmarks", "scripts"}, path


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
    for verb in "list show plan ablate status report evaluate probe ui data train sync".split():
        assert f" {verb} " in done.stdout, verb
