"""The Makefile and the set-up, on a copy of the tree whose `.venv` is missing or made of scripts: nothing is ever
installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ablations.settings import SETTINGS as TABLE
from ablations.settings import TARGETS, makefile_lists, reads, usage
from orchestration import bootstrap
from tests.paths import ROOT
from tests.waiting import PATIENCE

APT = "venv: this Python has no venv module; on Debian or Ubuntu: apt-get install python3-venv\n"
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
SETTINGS = {*TABLE, "TORCH", "PYTHON"}


@pytest.fixture
def tree(tmp_path) -> Path:
    """A checkout without `.venv`: the sources are links."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("Makefile", "constraints.txt", "pyproject.toml", "orchestration", "ablations", "gonn_core", "reports"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run(tree: Path, *command, **environment) -> subprocess.CompletedProcess:
    """A command in the checkout, without settings from the environment."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in SETTINGS and not name.startswith(("MAKE", "MFLAGS", "GONN_MAKE"))
    }
    return subprocess.run(command, cwd=tree, env={**clean, **environment}, capture_output=True, text=True)


def make(tree: Path, *arguments, **environment):
    return run(tree, "make", *arguments, PYTHON=sys.executable, **environment)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def installed(tree) -> Path:
    """The checkout with a `.venv` that counts as installed; its Python writes its arguments down as JSON."""
    (tree / "show.py").write_text("import json, sys; json.dump(sys.argv[1:], open('said.json', 'w'))")
    script(tree / ".venv/bin/python", f'exec {sys.executable} "$PWD/show.py" "$@"')
    stamp(tree)
    return tree


def stamp(tree: Path) -> None:
    """Have `.venv` count as made from the dependency files as they are."""
    code = "import sys; sys.path.insert(0, 'orchestration'); import bootstrap; "
    code += "print(bootstrap.environment_digest(), end='')"
    (tree / ".venv/.installed").write_text(run(tree, sys.executable, "-c", code).stdout)


def said(tree: Path) -> list[str]:
    return json.loads((tree / "said.json").read_text())


def targets_of(text: str) -> list[str]:
    return [line.split()[1] for line in text.splitlines() if line.startswith("  make ")]


def test_make_alone_is_help(tree):
    shown = make(tree)
    assert shown.returncode == 0 and shown.stderr == "" and shown.stdout == make(tree, "help").stdout
    assert targets_of(shown.stdout) == list(TARGETS) and not (tree / ".venv").exists()


def test_the_makefile_has_the_declared_targets_and_settings():
    """A setting that make's list lacks would be read as make's own code."""
    assert makefile_lists() in (ROOT / "Makefile").read_text()
    for target in TARGETS.values():
        assert set(reads(target)) <= set(TABLE) and set(re.findall(r"([A-Z_]+)=", usage(target))) <= set(reads(target))


PLAN = ", ".join(reads(TARGETS["plan"]))
RUN = ", ".join(reads(TARGETS["ablation"]))


@pytest.mark.parametrize("arguments, line", [
    ("plan NAME=elu BUGET=smoke", f"BUGET=smoke: no such setting, nearest: BUDGET; make plan reads {PLAN}"),
    ("ablation name=elu", f"name=elu: no such setting, nearest: NAME; make ablation reads {RUN}"),
    ("ablation NAME=elu SEED=3", f"SEED=3: make ablation does not read it; it reads {RUN}"),
    ("status GAMES=4", "GAMES=4: make status does not read it; it takes no settings"),
    ("status x=\x1b[2J", "x=\\x1b[2J: no such setting; make status takes no settings"),
    ("rate GONN_HOM=/tmp", "GONN_HOM=/tmp: no such setting, nearest: GONN_HOME or GONN_CACHE; make rate takes no "
                           "settings"),
    ("NAME=elu", "NAME=elu: make help does not read it; it takes no settings"),
    ("setup BUDGET=cpu", "BUDGET=cpu: make setup does not read it; it takes no settings"),
    ("ablaton NAME=elu", "make ablaton: no such target; valid: ablation"),
    ("list status NAME=elu", "NAME=elu: make list status does not read it"),
    ("list show NAME=elu OMP_NUM_THREADS=1 https_proxy=x RAY_ADDRESS=auto", None),
])  # fmt: skip
def test_what_no_target_reads_is_named(arguments, line):
    words = arguments.split()
    given = dict(word.split("=", 1) for word in words if "=" in word)
    goals = " ".join(word for word in words if "=" not in word)
    found = bootstrap.problem({**given, bootstrap.GIVEN: " ".join(given), bootstrap.GOALS: goals})
    assert found == line or found.startswith(line)


@pytest.mark.parametrize("arguments, line", [
    (["rate", "we(ird=$(touch trap)"], "we(ird: no such setting; make rate takes no settings"),
    (["x;touch trap"], f"make x;touch: no such target; valid: {', '.join(TARGETS)}"),
])  # fmt: skip
def test_it_is_refused_before_any_work(tree, arguments, line):
    made = make(tree, *arguments)
    assert made.returncode == 2 and made.stdout == "" and made.stderr.splitlines()[0] == line
    assert not (tree / ".venv").exists() and not (tree / "trap").exists()


def test_settings_of_make_and_of_the_environment_may_stand_after_make(installed):
    others = ["TORCH=auto", "SHELL=/bin/sh", "GONN_HOME=/tmp/x", "RAY_ADDRESS=auto", "CUDA_VISIBLE_DEVICES=1", "-j2"]
    others += ["OMP_NUM_THREADS=1", "https_proxy=http://a", "PYTEST_ADDOPTS=-x", f"PYTHON={sys.executable}"]
    made = make(installed, "plan", "NAME=elu", *others)
    assert (made.returncode, made.stderr) == (0, "") and said(installed)[2:] == ["plan", "elu"]


def test_what_is_taken_from_the_environment_is_said(installed):
    """The names are common ones: the subsystem for Linux of Windows sets NAME, others SEED or PORT."""
    made = make(installed, "plan", "SEEDS=2", NAME="elu", BUDGET="smoke", SEEDS="9", PORT="3000", SEED="5", TORCH="cpu")
    line = "taken from the environment, not given to make: NAME=elu BUDGET=smoke\n"
    assert (made.returncode, made.stderr) == (0, line)
    assert said(installed)[2:] == ["plan", "elu", "--budget", "smoke", "--seeds", "2"]
    assert make(installed, "status", NAME="host").stderr == ""


def test_a_missing_setting_leaves_its_place(installed):
    make(installed, "match", "B=gnugo")
    assert said(installed)[2:] == ["match", "", "gnugo"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("ablation NAME=parametric_relu", "orchestration.cli ablate parametric_relu"),
        ("plan NAME=elu SEEDS= BUDGET=smoke DEVICE=cpu", "orchestration.cli plan elu --budget smoke --device cpu"),
        ("data DATA=/my/games DATA_DIR=/a", "orchestration.cli data build /my/games --data-dir /a"),
        ("queue", "scripts.gpu_queue"),
    ],
)
def test_settings_that_are_not_given_are_not_passed_on(installed, arguments, words):
    assert make(installed, *arguments.split()).returncode == 0
    assert said(installed) == ["-m", *words.split()]


def test_tests_are_selected_by_their_marks(installed):
    make(installed, "test-quick")
    tests = "not slow and not system and not cards"
    assert said(installed) == ["-m", "pytest", "--numprocesses", "auto", "--dist", "worksteal", "-m", tests]


def test_lint_runs_all_checks_and_says_which_failed(installed):
    assert make(installed, "lint").stdout == "lint: nothing found\n"
    script(installed / ".venv/bin/python", 'echo "$@" >> checks; case "$*" in *mypy*|*format*) exit 1;; esac')
    failed = make(installed, "lint")
    assert failed.returncode == 2 and failed.stdout == "lint: ruff format --check .; mypy failed\n"
    assert (
        installed / "checks"
    ).read_text() == "-m ruff check .\n-m ruff format --check .\n-m mypy\n-m scripts.wording\n"


CODE = ["`touch trap`", "'\"&& touch trap; a b", "$(shell touch trap)", "*", "-x", "$$(touch trap)", "${NAME}", "a$"]


@pytest.mark.parametrize("name", CODE)
def test_no_value_is_read_as_code_by_the_shell_or_make(installed, name):
    record = f'printf %s "$MLFLOW_TRACKING_URI" > uri\nexec {sys.executable} "$PWD/show.py" "$@"'
    script(installed / ".venv/bin/python", record)
    assert make(installed, "show", f"NAME={name}", f"MLFLOW_TRACKING_URI={name}").returncode == 0
    assert said(installed)[2:] == ["show", name]
    assert (installed / "uri").read_text() == name
    assert not (installed / "trap").exists()


@pytest.mark.parametrize("arguments, line", [
    (["ablation", "NAME=parametric_rlu"], "NAME=parametric_rlu: no such enhancement; valid: parametric_relu; "),
    (["ui", "PORT=0"], "PORT=0: out of range; valid: 1 to 65535"),
])  # fmt: skip
def test_bad_settings_reach_the_user_through_make(installed, arguments, line):
    script(installed / ".venv/bin/python", f'exec {sys.executable} "$@"')
    made = make(installed, *arguments, GONN_HOME=str(installed / "home"))
    first, last = made.stderr.splitlines()
    assert made.returncode == 2 and made.stdout == "" and first.startswith(line)
    assert last.startswith("make: *** [")
    assert not (installed / "home").exists()


def test_no_venv_module(tree, tmp_path):
    blocked = "import sys; sys.modules['ensurepip'] = None"  # importing it is an error
    (tmp_path / "sitecustomize.py").write_text(blocked)
    setup = run(tree, sys.executable, "orchestration/bootstrap.py", "setup", PYTHONPATH=str(tmp_path))
    assert (setup.returncode, setup.stdout, setup.stderr) == (2, "", APT)
    assert not (tree / ".venv").exists()


def test_a_python_of_another_version(tree, tmp_path):
    old = "import sys; sys.version_info = (3, 9, 2); sys.argv = ['bootstrap.py', 'setup']\n"
    old += "sys.executable = '/usr/bin/python3.9'\n"
    old += "sys.path.insert(0, 'orchestration'); import bootstrap; bootstrap.main()"
    setup = run(tree, sys.executable, "-c", old, PATH=str(tmp_path))
    assert (setup.returncode, setup.stderr) == (2, "PYTHON=/usr/bin/python3.9: is Python 3.9; valid: 3.11 to 3.14\n")
    assert not (tree / ".venv").exists()


PIP = """case "$*" in
*--version*) exit 0 ;;
*pip*) echo "$@" >> pip.log; echo "Collecting numpy==1"; echo "  Using cached numpy"; exit ${FAILS:-0} ;;
*) exit 7 ;;
esac"""


def test_what_is_installed_and_only_once(tree):
    script(tree / ".venv/bin/python", PIP)
    first = make(tree, "list", TORCH="cuda")
    assert "code 7" not in first.stdout and "Error 7" in first.stderr  # the verb itself: this Python has none
    assert first.stdout.startswith(
        "Setting up .venv (once; one to six minutes, and 2 GB with the CPU build of torch) …\n"
        "Collecting numpy==1\nCollecting numpy==1\nSet up in "
    )
    pin = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    torch, rest = (tree / "pip.log").read_text().splitlines()
    assert (
        torch.startswith("-m pip --disable-pip-version-check install --progress-bar=off -c ")
        and torch.split()[-1] == pin
    )
    assert rest.endswith(f"--editable {tree}[test]")
    assert make(tree, "list", TORCH="cuda").stdout == ""
    assert len((tree / "pip.log").read_text().splitlines()) == 2
    (tree / "constraints.txt").unlink()
    (tree / "constraints.txt").write_text("torch==2.13.0\nnumpy==1\n")
    assert make(tree, "list", TORCH="cuda").stdout.startswith("Setting up .venv")


def test_an_installation_that_fails_goes_on_with_the_same_command(tree):
    script(tree / ".venv/bin/python", PIP)
    failed = make(tree, "setup", TORCH="cuda", FAILS="1")
    line = "setup: installing torch failed (code 1); the lines above say why. The same command resumes from here.\n"
    assert failed.returncode == 2 and failed.stderr.startswith(line)
    assert not (tree / ".venv/.installed").exists()
    assert make(tree, "setup", TORCH="cuda").returncode == 0 and (tree / ".venv/.installed").exists()


def test_two_commands_at_once_install_once(tree):
    (tree / "constraints.txt").unlink()  # the lock is on this file: not on that of the checkout that runs these tests
    (tree / "constraints.txt").write_text("torch==2.13.0\n")
    script(tree / ".venv/bin/python", 'case "$*" in *install*) echo "$*" >> pip.log; sleep 0.5;; esac')
    clean = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "orchestration/bootstrap.py", "setup"]
    started = [
        subprocess.Popen(command, cwd=tree, env={**clean, "TORCH": "cuda"}, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in started:
        process.communicate(timeout=PATIENCE)
    assert [process.returncode for process in started] == [0, 0]
    assert len((tree / "pip.log").read_text().splitlines()) == 2  # torch, then the rest
