"""What `python -m build` makes: a wheel with every declaration, which works in an environment of its own, anywhere."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.waiting import PATIENCE

PACKAGES = ("ablations", "gonn_core", "orchestration", "reports")
pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from a copy of the sources: setuptools leaves folders where it works."""
    folder = tmp_path_factory.mktemp("wheel")
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / "source" / package, ignore=leave)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "source" / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, folder / "source"]
    built = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_it_holds_every_file_of_the_packages_and_nothing_else(wheel):
    files = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {"ablations/cards/gonn/parametric_relu.yaml", "ablations/starter/gnugo-selfplay.tar.xz"} <= files
    assert held == files


def test_a_study_in_an_environment_of_its_own(wheel, tmp_path):
    """A folder that is not the repository; of the environment only what the wheel depends on is shared."""
    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python, gonn = environment / "bin" / "python", environment / "bin" / "gonn"
    inside = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
    )
    # A line of a .pth file that is a path: the links of editable installs in that folder are not followed.
    (Path(inside.stdout.strip()) / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    # pytest-xdist puts the checkout on PYTHONPATH, where pip would find the project's egg-info and install nothing.
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--ignore-installed"]
    install = [*pip, "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True, capture_output=True)
    elsewhere = tmp_path / "my games"
    elsewhere.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GONN_", "PYTHON"))}

    def run(*command) -> str:
        done = subprocess.run(command, cwd=elsewhere, env=clean, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    where = run(python, "-c", "import gonn_core, reports.frames; print(gonn_core.__file__, reports.__file__)")
    assert all(Path(path).is_relative_to(environment) for path in re.findall(r"\S+__init__\.py", where))
    said = run(
        gonn, "ablate", "last_move_input", "--budget", "smoke", "--samples", "640", "--seeds", "1", "--runner", "local"
    )
    assert "not a result (1 seed" in said
    (report,) = elsewhere.glob("out/last_move_input-*/report.md")
    assert "commit gonn-" in report.read_text(encoding="utf-8")
