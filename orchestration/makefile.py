"""What was typed after `make`: one line for what is wrong with it, and the help.

Make says in the environment which variables were on its command line (`GONN_MAKE_GIVEN`) and which targets
(`GONN_MAKE_GOALS`). Standard library only: `bootstrap` asks before anything is installed.
"""

import difflib
import re
import shutil
import textwrap

from ablations.settings import SETTINGS, SETUP, TARGETS, reads, usage

GIVEN, GOALS = "GONN_MAKE_GIVEN", "GONN_MAKE_GOALS"
OWN_ENVIRONMENT = (
    "GONN_HOME",
    "GONN_DATA",
    "GONN_CACHE",
    "GONN_DOCUMENTS",
    "MLFLOW_TRACKING_URI",
    "RAY_ADDRESS",
)
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
        near = nearest(name, read)
        return f"{typed}: no such setting{', nearest: ' + ' or '.join(near) if near else ''}; {which} {valid}"
    return None


def _read_by(goals):
    return list(dict.fromkeys(name for goal in goals if goal in TARGETS for name in reads(TARGETS[goal])))


def nearest(name, read):
    """Settings that a mistyped name may have meant: of those that are read, else of all; the likeliest first."""
    for among in (read, sorted(SETTINGS), SETUP + OWN_ENVIRONMENT):
        near = difflib.get_close_matches(name.upper(), among, 2, 0.6)
        if near:
            return near
    return []


def taken_from_environment(environment):
    """One line that names the settings which the targets take from the environment, since their names are common ones;
    None when there are none."""
    given = environment.get(GIVEN, "").split()
    names = [name for name in _read_by(environment.get(GOALS, "").split()) if name not in given]
    taken = [f"{name}={_shown(environment[name])}" for name in names if environment.get(name)]
    return f"taken from the environment, not given to make: {' '.join(taken)}" if taken else None


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


def _is_of_environment(name):
    """Whether a variable is one of the environment's, and does not differ from ours by a slip."""
    if name in OWN_ENVIRONMENT:
        return True
    slip = difflib.get_close_matches(name, OWN_ENVIRONMENT + SETUP + tuple(SETTINGS), 1, 0.85)
    return not slip and OF_OTHERS.fullmatch(name) is not None


def _shown(text):
    """A value on one line, without control characters, cut."""
    text = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
    return text[:LONGEST] + "…" if len(text) > LONGEST else text
