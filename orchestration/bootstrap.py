"""Set up `.venv` once, then run a target of make: `python3 orchestration/bootstrap.py TARGET`, its settings in the
environment.

Standard library only: it runs before anything is installed, also where only pip is available to install with. `help`,
`setup`, tests, `lint`, `queue` and `remake` are run here; every other target becomes a verb of `gonn`
(`ablations.settings`).

Make says in the environment which variables were on its command line (`GONN_MAKE_GIVEN`) and which targets
(`GONN_MAKE_GOALS`): what no target reads is refused with one line.
"""

import contextlib
import difflib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from ablations.settings import PYTEST, SETTINGS, SETUP, TARGETS, option, reads, usage  # noqa: E402 (ROOT is on the path)

VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, ".installed")
PYTHON = os.path.join(VENV, "bin", "python")
CONSTRAINTS = os.path.join(ROOT, "constraints.txt")
OLDEST, NEWEST = (3, 11), (3, 14)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
OWN = {"queue": ["scripts.gpu_queue"], "remake": ["orchestration.catalogue.generated"]}
"""Targets that run a module of this checkout."""
LINT = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["scripts.wording"])

GIVEN, GOALS = "GONN_MAKE_GIVEN", "GONN_MAKE_GOALS"
OWN_ENVIRONMENT = ("GONN_HOME", "GONN_DATA", "GONN_CACHE", "MLFLOW_TRACKING_URI", "RAY_ADDRESS")
"""Settings of the environment, which may also be given to make."""
OF_OTHERS = re.compile(
    "(CUDA|NVIDIA|OMP|MKL|OPENBLAS|NUMBA|TORCH|PYTORCH|PYTEST|MLFLOW|RAY|PIP|UV|XDG|LC|MAKE|GIT|SSL|AWS)_[A-Z0-9_]+"
    "|PYTHON[A-Z0-9_]+|MAKE[A-Z]*|MFLAGS|GNUMAKEFLAGS|SHELL|CURDIR|VPATH|SUFFIXES"
    "|PATH|HOME|USER|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|TMPDIR|DISPLAY|BROWSER|NO_COLOR|FORCE_COLOR"
    "|(?i:https?|all|no|ftp)_(?i:proxy)|[.%*-].*"
)
"""Variables of make itself, libraries and the system: not checked."""
LONGEST = 80
TAIL = (
    "Settings follow the target: make plan NAME=parametric_relu BUDGET=smoke. Those in [] are optional. "
    "`.venv/bin/gonn VERB --help` shows every option of a verb."
)


def stop(line):
    """Print one line and leave with code 2."""
    sys.stderr.write(line + "\n")
    sys.exit(2)


def suitable_python():
    """Path of an interpreter of a supported version: this one, else one on PATH. Stops when there is none."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        path = shutil.which(f"python3.{minor}")
        if path and subprocess.call([path, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return path
    stop("PYTHON={}: is Python {}.{}; valid: 3.11 to 3.14".format(sys.executable, *sys.version_info[:2]))


def environment_digest():
    """Cache key of the environment: a hash over the dependency files and the TORCH setting."""
    digest = hashlib.sha256(torch_choice().encode())
    for path in (CONSTRAINTS, os.path.join(ROOT, "pyproject.toml")):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def torch_choice():
    """The TORCH setting: auto, cpu or cuda."""
    choice = os.environ.get("TORCH") or "auto"
    if choice not in ("auto", "cpu", "cuda"):
        stop(f"TORCH={choice[:80]}: not a known build of torch; valid: auto, cpu, cuda")
    return choice


def torch_arguments():
    """pip arguments that choose the build of torch: the small CPU build where no NVIDIA driver is seen. Stops where
    constraints.txt pins no torch."""
    with open(CONSTRAINTS) as file:
        pins = re.findall(r"(?m)^torch==[^\s#]+", file.read())
    if not pins:
        stop("constraints.txt: pins no torch; valid: a line such as torch==2.13.0")
    choice = torch_choice()
    if choice == "cuda" or not sys.platform.startswith("linux") or (choice == "auto" and shutil.which("nvidia-smi")):
        return pins[:1]
    try:
        urllib.request.urlopen(CPU_INDEX + "/torch/", timeout=5).close()
    except OSError as error:
        print(
            f"PyTorch's index of CPU builds does not answer ({getattr(error, 'reason', error)}): using pip's ordinary "
            "index, which may bring about 3 GB of CUDA libraries.",
            flush=True,
        )
        return pins[:1]
    return [pins[0] + "+cpu", "--extra-index-url", CPU_INDEX]


def run(command, what):
    """Run an installation step and show its progress, on a terminal in one place; stop with one line when it fails."""
    begin, end = ("\r\x1b[K", "") if sys.stdout.isatty() else ("", "\n")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, universal_newlines=True)
    for line in process.stdout or ():
        words = line.split()
        if words and words[0] in ("Collecting", "Downloading", "Installing"):
            sys.stdout.write(begin + " ".join(words)[:78] + end)
            sys.stdout.flush()
    sys.stdout.write(begin)
    code = process.wait()
    if code != 0:
        stop(f"setup: {what} failed (code {code}); the lines above say why. The same command resumes from here.")


def make_venv(python):
    """Create `.venv`; a half-made one is made again. Stops with the one apt line where the venv module is missing."""
    if (
        os.path.exists(PYTHON)
        and subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True).returncode == 0
    ):
        return
    if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode != 0:
        stop("venv: this Python has no venv module; on Debian or Ubuntu: apt-get install python3-venv")
    shutil.rmtree(VENV, ignore_errors=True)
    run([python, "-m", "venv", VENV], "making .venv")


def is_set_up():
    """Whether `.venv` is up to date."""
    try:
        with open(STAMP) as file:
            return file.read().strip() == environment_digest()
    except OSError:
        return False


@contextlib.contextmanager
def alone():
    """While this is entered no other command sets `.venv` up; waits for one that does. A killed command holds
    nothing."""
    # The file is never changed; NFS locks only what may be written.
    with open(CONSTRAINTS, "r+b" if os.access(CONSTRAINTS, os.W_OK) else "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another command that sets up .venv …", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def setup():
    """Make `.venv` hold what constraints.txt says; does nothing when it already does. The stamp that says so comes
    last."""
    want = environment_digest()
    if is_set_up():
        return
    with alone():
        if is_set_up():  # the command that this one waited for has done it
            return
        start = time.time()
        make_venv(suitable_python())
        print("Setting up .venv (once; one to six minutes, and 2 GB with the CPU build of torch) …", flush=True)
        pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar=off", "-c", CONSTRAINTS]
        run(pip + torch_arguments(), "installing torch")
        run([*pip, "--editable", ROOT + "[test]"], "installing the pinned versions")
        with open(STAMP + ".tmp", "w") as file:
            file.write(want)
        os.replace(STAMP + ".tmp", STAMP)
        print(f"Set up in {time.time() - start:.0f} s.", flush=True)


def problem(environment):
    """One line for the first thing on make's command line that no target has or reads; None when all is well."""
    goals = environment.get(GOALS, "").split() or ["help"]
    for goal in goals:
        if goal not in TARGETS:
            near = difflib.get_close_matches(goal, TARGETS, 3, 0.6)
            return f"make {_shown(goal)}: no such target; valid: {', '.join(near or TARGETS)}"
    read = _read_by(goals)
    for name in environment.get(GIVEN, "").split():
        if name in read or name in SETUP or _is_of_environment(name):
            continue
        value = environment.get(name)
        typed = _shown(name) if value is None else f"{_shown(name)}={_shown(value)}"
        which = "make " + " ".join(goals)
        valid = ("reads " + ", ".join(read)) if read else "takes no settings"
        if name in SETTINGS:
            return f"{typed}: {which} does not read it; it {valid}"
        close = (
            difflib.get_close_matches(name.upper(), among, 2, 0.6)
            for among in (read, sorted(SETTINGS), SETUP + OWN_ENVIRONMENT)
        )
        near = next(filter(None, close), [])  # of the settings that are read, else of all
        return f"{typed}: no such setting{', nearest: ' + ' or '.join(near) if near else ''}; {which} {valid}"
    return None


def _read_by(goals):
    return list(dict.fromkeys(name for goal in goals if goal in TARGETS for name in reads(TARGETS[goal])))


def _is_of_environment(name):
    """Whether a variable is one of the environment's, and does not differ from ours by a slip."""
    slip = difflib.get_close_matches(name, OWN_ENVIRONMENT + SETUP + tuple(SETTINGS), 1, 0.85)
    return name in OWN_ENVIRONMENT or (not slip and OF_OTHERS.fullmatch(name) is not None)


def _shown(text):
    """A value on one line, without control characters, cut."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    return text[:LONGEST] + "…" if len(text) > LONGEST else text


def check_make(environment):
    """Stop with one line when something on make's command line is no setting of its targets; name those that come from
    the environment, since their names are common ones. Removes make's own variables: another make that the command
    starts sets its own."""
    if GIVEN in environment:
        line = problem(environment)
        if line:
            stop(line)
        given = environment[GIVEN].split()
        names = [name for name in _read_by(environment.get(GOALS, "").split()) if name not in given]
        taken = [f"{name}={_shown(environment[name])}" for name in names if environment.get(name)]
        if taken:
            sys.stderr.write(f"taken from the environment, not given to make: {' '.join(taken)}\n")
    for name in (GIVEN, GOALS):
        environment.pop(name, None)


def help_text():
    """All targets by group with their settings, wrapped."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    column = max(map(len, TARGETS)) + len("  make   ")
    lines = []  # type: list[str]
    group = None
    for target in TARGETS.values():
        if target.group != group:
            group = target.group
            lines += [""] * bool(lines) + [group]
        settings = usage(target)
        lines += textwrap.wrap(
            target.help + (f": {settings}" if settings else ""),
            max(width, column + 30),
            initial_indent=f"  make {target.name}".ljust(column),
            subsequent_indent=" " * column,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join([*lines, "", *textwrap.wrap(TAIL, width, break_on_hyphens=False)])


def lint():
    """Check the tree as it is committed: rules, formatting, types. Says which checks failed; the exit code."""
    os.chdir(ROOT)
    failed = [" ".join(check) for check in LINT if subprocess.call([PYTHON, "-m", *check]) != 0]
    print(f"lint: {'; '.join(failed)} failed" if failed else "lint: nothing found")
    return 1 if failed else 0


def module_of(target, environment):
    """The module that runs a target, with its arguments: settings that are set, in the order of the target."""
    if target.name in PYTEST:
        options, selected = PYTEST[target.name]
        return ["pytest", *options.split(), selected]
    if target.name in OWN:
        return list(OWN[target.name])
    given = [environment.get(name, "") for name in target.arguments]
    while given and not given[-1]:  # an earlier one that is missing keeps its place
        given.pop()
    arguments = [*target.verb, *given]
    for name in target.options:
        if environment.get(name):
            arguments += [option(name), environment[name]]
    return ["orchestration.cli", *arguments]


def main():
    """Set up, then become the command."""
    if len(sys.argv) != 2:
        stop("usage: bootstrap.py TARGET; its settings are in the environment")
    check_make(os.environ)
    if sys.argv[1] not in TARGETS:
        stop(f"{sys.argv[1]}: no such target; valid: {', '.join(TARGETS)}")
    target = TARGETS[sys.argv[1]]
    if target.name == "help":
        print(help_text())
        return
    setup()
    if target.name == "setup":
        return
    if target.name == "lint":
        sys.exit(lint())
    module = module_of(target, os.environ)
    if module[0] != "orchestration.cli":
        os.chdir(ROOT)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [ROOT, os.environ.get("PYTHONPATH")]))
    sys.stdout.flush()
    os.execv(PYTHON, [PYTHON, "-m", *module])


if __name__ == "__main__":
    main()
