"""What was typed after `make`: which settings each target reads, and one line for those that are wrong.

The Makefile is the only list of settings: a target reads those that its recipe hands on (`"$$NAME"`). Make tells by the
environment which variables stood on its command line (`GONN_MAKE_GIVEN`) and which targets (`GONN_MAKE_GOALS`).

Standard library only, for any Python 3: `bootstrap` asks before anything is installed.
"""

import collections
import difflib
import re
import shutil
import textwrap

GIVEN, GOALS = "GONN_MAKE_GIVEN", "GONN_MAKE_GOALS"
OF_THE_SETUP = ("PYTHON", "TORCH")
"""Read by every target, from the environment too."""
OWN_ENVIRONMENT = (
    "GONN_HOME",
    "GONN_DATA",
    "GONN_CACHE",
    "GONN_DOCUMENTS",
    "GONN_MPS",
    "MLFLOW_TRACKING_URI",
    "RAY_ADDRESS",
)
"""Settings of the environment, which may as well stand after make."""
OF_OTHERS = re.compile(
    "(CUDA|NVIDIA|OMP|MKL|OPENBLAS|NUMBA|TORCH|PYTORCH|PYTEST|MLFLOW|RAY|PIP|UV|XDG|LC|MAKE|GIT|SSL|AWS)_[A-Z0-9_]+"
    "|PYTHON[A-Z0-9_]+|MAKE[A-Z]*|MFLAGS|GNUMAKEFLAGS|SHELL|CURDIR|VPATH|SUFFIXES"
    "|PATH|HOME|USER|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|TMPDIR|DISPLAY|BROWSER|NO_COLOR|FORCE_COLOR"
    "|(?i:https?|all|no|ftp)_(?i:proxy)|[.%*-].*"
)
"""What make itself, libraries and the system have for settings: none of ours, and left alone."""
LONGEST = 80
TAIL = (
    "Settings stand after the target: make plan NAME=parametric_relu BUDGET=smoke. Those in [] may be left out. "
    "`.venv/bin/gonn VERB --help` tells every option of a verb."
)

Target = collections.namedtuple("Target", "name, help, recipe, reads, group")
"""help: its `##` comment; recipe: its last line; reads: names of its settings, in the recipe's order; group: the `##@`
comment above it."""


def read_targets(path):
    """Name -> Target of a Makefile, in its order; recipes are looked at with the Makefile's own variables put in."""
    variables, found, group = {}, {}, ""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        variable = re.match(r"([A-Z_]+) *[:?]?= *(.*)", line)
        if variable:
            variables[variable.group(1)] = variable.group(2)
    name = None
    for line in lines:
        head = re.match(r"([a-z][a-z-]*):.*?## (.*)", line)
        if line.startswith("##@ "):
            group = line[4:].strip()
        elif head:
            name = head.group(1)
            found[name] = Target(name, head.group(2), "", (), group)
        elif line.startswith("\t") and name:
            recipe = _expanded(line, variables).strip()
            settings = [each for each in re.findall(r"\$\$([A-Z][A-Z_]*)", recipe) if each not in OF_THE_SETUP]
            reads = tuple(collections.OrderedDict.fromkeys(found[name].reads + tuple(settings)))
            found[name] = found[name]._replace(recipe=recipe, reads=reads)
        elif not line.startswith("#"):
            name = None
    return found


def _expanded(text, variables):
    while re.search(r"\$\(([A-Z_]+)\)", text):
        text = re.sub(r"\$\(([A-Z_]+)\)", lambda match: variables.get(match.group(1), ""), text)
    return text


def problem(targets, environment):
    """One line for the first thing on make's command line that no target has or reads; None when all is well."""
    goals = environment.get(GOALS, "").split() or ["help"]
    for goal in goals:
        if goal not in targets:
            near = difflib.get_close_matches(goal, targets, 3, 0.6)
            return "make %s: no such target; valid: %s" % (_shown(goal), ", ".join(near or targets))
    reads = list(collections.OrderedDict.fromkeys(name for goal in goals for name in targets[goal].reads))
    known = {name for target in targets.values() for name in target.reads}
    for name in environment.get(GIVEN, "").split():
        if name in reads or name in OF_THE_SETUP or _of_the_environment(name, known):
            continue
        value = environment.get(name)
        typed = _shown(name) if value is None else "%s=%s" % (_shown(name), _shown(value))
        which = "make " + " ".join(goals)
        valid = ("reads " + ", ".join(reads)) if reads else "takes no settings"
        if name in known:
            return "%s: %s does not read it; it %s" % (typed, which, valid)
        near = nearest(name, reads, known)
        return "%s: no such setting%s; %s %s" % (typed, ", nearest: " + " or ".join(near) if near else "", which, valid)
    return None


def nearest(name, reads, known):
    """Settings that a mistyped name may have meant: of those that are read, else of all; the likeliest first."""
    for among in (reads, sorted(known), OF_THE_SETUP + OWN_ENVIRONMENT):
        near = difflib.get_close_matches(name.upper(), among, 2, 0.6)
        if near:
            return near
    return []


def taken_from_environment(targets, environment):
    """One line that names the settings which the targets read from the environment, for their names are common ones;
    None when there are none."""
    goals = [goal for goal in environment.get(GOALS, "").split() if goal in targets]
    given = environment.get(GIVEN, "").split()
    names = collections.OrderedDict.fromkeys(name for goal in goals for name in targets[goal].reads)
    taken = [
        "%s=%s" % (name, _shown(environment[name])) for name in names if name not in given and environment.get(name)
    ]
    return "taken from the environment, for make was given no other: %s" % " ".join(taken) if taken else None


def help_text(targets, width=None):
    """All targets by group with their comments, wrapped."""
    width = min(width or shutil.get_terminal_size((100, 24)).columns, 120)
    column = max(len(name) for name in targets) + len("  make   ")
    lines = []  # type: list[str]
    group = None
    for target in targets.values():
        if target.group != group:
            group = target.group
            lines += [""] * bool(lines) + [group] * bool(group)
        lines += textwrap.wrap(
            target.help,
            max(width, column + 30),
            initial_indent=("  make " + target.name).ljust(column),
            subsequent_indent=" " * column,
            break_long_words=False,
            break_on_hyphens=False,
        )
    lines += ["", *textwrap.wrap(TAIL, width, break_on_hyphens=False)]
    return "\n".join(lines)


def _of_the_environment(name, known):
    """Whether a variable is nobody's mistake: one of the environment's, and none that differs from ours by a slip."""
    if name in OWN_ENVIRONMENT:
        return True
    slip = difflib.get_close_matches(name, OWN_ENVIRONMENT + OF_THE_SETUP + tuple(known), 1, 0.85)
    return not slip and OF_OTHERS.fullmatch(name) is not None


def _shown(text):
    """A value on one line, without control characters, cut."""
    text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return text[:LONGEST] + "…" if len(text) > LONGEST else text
