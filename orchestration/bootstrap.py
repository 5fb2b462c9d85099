"""Set up `.venv` once, then run a target of make: `python3 orchestration/bootstrap.py TARGET`, its settings in the
environment.

Standard library only, for any Python 3: it runs before anything is installed, also where only pip is available to
install with. `help`, `setup`, tests, `lint`, `queue` and `remake` are run here; every other target becomes a verb of
`gonn` (`ablations.settings`).
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

from ablations.settings import PYTEST, TARGETS, option  # noqa: E402 (found once ROOT is on the path)
from orchestration import makefile  # noqa: E402

VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, ".installed")
PYTHON = os.path.join(VENV, "bin", "python")
OLDEST, NEWEST = (3, 11), (3, 14)
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
OWN = {"queue": ["scripts.gpu_queue"], "remake": ["orchestration.catalogue.generated"]}
"""Targets that run a module of this checkout."""
LINT = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["scripts.wording"])


def stop(line):
    """Print one line and leave with code 2."""
    sys.stderr.write(line + "\n")
    sys.exit(2)


def suitable_python():
    """Path of an interpreter of a supported version: this one, else one on PATH. Stops when there is none."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        path = shutil.which("python3.%d" % minor)
        if path and subprocess.call([path, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return path
    stop("PYTHON=%s: is Python %d.%d; valid: 3.11 to 3.14" % (sys.executable, sys.version_info[0], sys.version_info[1]))


def environment_digest():
    """Cache key of the environment: a hash over the dependency files and the TORCH setting."""
    digest = hashlib.sha256(torch_choice().encode())
    for name in ("constraints.txt", "pyproject.toml"):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def torch_choice():
    """The TORCH setting: auto, cpu or cuda."""
    choice = os.environ.get("TORCH") or "auto"
    if choice not in ("auto", "cpu", "cuda"):
        stop("TORCH=%s: not a known build of torch; valid: auto, cpu, cuda" % choice[:80])
    return choice


def torch_pin():
    """`torch==…`, as constraints.txt pins it. Stops where it does not."""
    with open(os.path.join(ROOT, "constraints.txt")) as file:
        pins = [line.split("#")[0].strip() for line in file]
    for pin in pins:
        if pin.startswith("torch=="):
            return pin
    stop("constraints.txt: pins no torch; valid: a line such as torch==2.13.0")


def torch_arguments():
    """pip arguments that choose the build of torch: the small CPU build where no NVIDIA driver is seen."""
    ordinary = [torch_pin()]
    choice = torch_choice()
    if choice == "cuda" or not sys.platform.startswith("linux") or (choice == "auto" and shutil.which("nvidia-smi")):
        return ordinary
    try:
        urllib.request.urlopen(CPU_INDEX + "/torch/", timeout=5).close()
    except OSError as error:
        reason = getattr(error, "reason", error)
        print(
            "PyTorch's index of CPU builds does not answer (%s): using pip's ordinary index, "
            "which may bring about 3 GB of CUDA libraries." % reason,
            flush=True,
        )
        return ordinary
    return [torch_pin() + "+cpu", "--extra-index-url", CPU_INDEX]


def run(command, what):
    """Run an installation step and show what it is at, on a terminal in one place; stop with one line when it fails."""
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
        stop("setup: %s failed (code %d); the lines above say why. The same command resumes from here." % (what, code))


def make_venv(python):
    """Create `.venv`; a half-made one is made anew. Stops with the one apt line where the venv module is missing."""
    if (
        os.path.exists(PYTHON)
        and subprocess.call([PYTHON, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        == 0
    ):
        return
    probe = subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True)
    if probe.returncode != 0:
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
    path = os.path.join(ROOT, "constraints.txt")
    with open(
        path, "r+b" if os.access(path, os.W_OK) else "rb"
    ) as file:  # never changed; NFS locks only what may be written
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another command that sets up .venv …", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def setup():
    """Make `.venv` hold what constraints.txt says; does nothing when it already does."""
    want = environment_digest()
    if is_set_up():
        return
    with alone():
        if not is_set_up():  # else the command that this one waited for has done it
            install(want)


def install(want):
    """Make `.venv` and install everything; the stamp that says so comes last."""
    start = time.time()
    make_venv(suitable_python())
    print("Setting up .venv (once; one to six minutes, and 2 GB with the CPU build of torch) …", flush=True)
    pip = [
        PYTHON,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--progress-bar=off",
        "-c",
        os.path.join(ROOT, "constraints.txt"),
    ]
    run(pip + torch_arguments(), "installing torch")
    run(pip + ["--editable", ROOT + "[test]"], "installing the pinned versions")
    with open(STAMP + ".tmp", "w") as file:
        file.write(want)
    os.replace(STAMP + ".tmp", STAMP)
    print("Set up in %.0f s." % (time.time() - start), flush=True)


def check_make(environment):
    """Stop with one line when something on make's command line is no setting of its targets; name those that come from
    the environment. Removes make's own variables: another make that the command starts sets its own."""
    if makefile.GIVEN in environment:
        problem = makefile.problem(environment)
        if problem:
            stop(problem)
        taken = makefile.taken_from_environment(environment)
        if taken:
            sys.stderr.write(taken + "\n")
    for name in (makefile.GIVEN, makefile.GOALS):
        environment.pop(name, None)


def lint():
    """Check the tree as it is committed: rules, formatting, types. Says which checks failed; the exit code."""
    os.chdir(ROOT)
    failed = []
    for check in LINT:
        sys.stdout.flush()
        if subprocess.call([PYTHON, "-m"] + check) != 0:
            failed.append(" ".join(check))
    print("lint: %s" % ("; ".join(failed) + " failed" if failed else "nothing found"))
    return 1 if failed else 0


def module_of(target, environment):
    """The module that runs a target, with its arguments: settings that are set, in the order of the target."""
    if target.name in PYTEST:
        options, selected = PYTEST[target.name]
        return ["pytest", *options.split(), selected]
    if target.name in OWN:
        return list(OWN[target.name])
    arguments = [*target.verb, *(environment[name] for name in target.arguments if environment.get(name))]
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
        stop("%s: no such target; valid: %s" % (sys.argv[1], ", ".join(TARGETS)))
    target = TARGETS[sys.argv[1]]
    if target.name == "help":
        print(makefile.help_text())
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
    os.execv(PYTHON, [PYTHON, "-m"] + module)


if __name__ == "__main__":
    main()
