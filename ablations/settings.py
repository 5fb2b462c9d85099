"""The settings of commands, each declared once: options of `gonn`, settings and targets of make, lines of settings,
suggested commands and the table of docs/settings.md are made from `SETTINGS` and `TARGETS`.

Standard library only, for any Python 3: make reads it before anything is installed.
"""

import collections
import re
import shlex

Setting = collections.namedtuple("Setting", "name, doc, values, default, valid, help")
Setting.__doc__ = """One setting.

name: as make has it; the option of `gonn` is --name in lower case.
doc: the cell of docs/settings.md, in markdown.
values: what make's list shows behind `NAME=`.
default: what holds when it is not given: a value, or words in brackets such as `(the budget's)`; empty: nothing.
valid: a tuple of words, `int` for whole numbers, `path`, or None for text.
help: `doc` without markup, for `gonn VERB --help`.
"""


def _setting(name, doc, values="", default="", valid=None):
    return Setting(name, doc, values, default, valid, re.sub(r" ?\(\[.*?\]\(.*?\)\)|`|\[(.*?)\]\(.*?\)", r"\1", doc))


SETTINGS = collections.OrderedDict(
    (setting.name, setting)
    for setting in (
        _setting(
            "NAME",
            "an enhancement, or several separated by commas; for a screen also `all`, a system, or a part of the "
            "net such as `net.head`",
            "parametric_relu",
        ),
        _setting(
            "BASE",
            "a net with its recipe, such as `gonn-b5`, `go-nn`, `clark-medium`, `lczero-s`, "
            "`cazenave-7x128`; `gonn list --bases`",
            "gonn-b5",
            "(the card's)",
        ),
        _setting(
            "DATA",
            "`starter`, `kgs`, `kgs+tom`, `gogod`, `gogod-1800`, `gogod-1995`, or a folder, archive or glob of "
            "SGF files ([games](games.md))",
            "starter",
            "starter",
        ),
        _setting("DATA_DIR", "folder with the archives of these collections", "FOLDER", "($GONN_DATA)", "path"),
        _setting("BUDGET", "`smoke`, `cpu`, `gpu`, `paper`", "cpu", "cpu"),
        _setting(
            "PRECISION",
            "`fp32`, `bf16`, for all arms ([training](training.md#fp32-or-bf16))",
            "fp32|bf16",
            "(the budget's)",
            ("fp32", "bf16"),
        ),
        _setting("SAMPLES", "other numbers of samples, one study each: `25k,50k,100k`", "25k,50k", "(the budget's)"),
        _setting(
            "LR",
            "a number, `found:SEARCH`, or `search`: search the rate of each arm first "
            "([training](training.md#learning-rates))",
            "0.1|search",
            "(the base's)",
        ),
        _setting(
            "DESIGN",
            "`add-one`, `leave-one-out`, `cumulative`, `factorial`, `screen`",
            "add-one|leave-one-out|cumulative|factorial|screen",
            "add-one",
        ),
        _setting("RUNS", "screens: trials in all", "64", "(two of each arm)", int),
        _setting("HOLD", "screens: enhancements that are on in all arms", "…"),
        _setting(
            "FOLD",
            "screens: the enhancement whose sign is reversed in as many arms again, which separates its "
            "interactions from all others",
            "…",
        ),
        _setting(
            "SEEDS",
            "a number (`4`), a list (`1,2,7`; one seed: `7,`), or planned looks at a growing number (`4..16`); "
            "seeds added to a complete study count as one more look",
            "4|4..16",
            "(the budget's)",
        ),
        _setting(
            "CONTROL_SEEDS", "seeds for the control only: 12 instead of 4 shrink the standard error by 11 to 20 %", "8"
        ),
        _setting("FUTILITY", "with looks: an arm also stops when its effect is smaller than this many nats", "0.01"),
        _setting(
            "CLAIM",
            "the claim from which `gpu` and `paper` take base, settings and samples; `make show` lists them",
            "…",
            "(the first)",
        ),
        _setting(
            "FIRST_LOOK",
            "`no`: skip the [first look](#the-first-look), a small study before a long one",
            "yes|no",
            "yes",
            ("yes", "no"),
        ),
        _setting("DEVICE", "`cpu`, `cuda`: where trials run", "auto", "auto", ("auto", "cpu", "cuda")),
        _setting(
            "COMPILE",
            "`body`: compile nets for training with PyTorch; `graphs`: with CUDA graphs, on a GPU "
            "([training](training.md#compiled-nets))",
            "none|body|graphs",
            "none",
            ("none", "body", "graphs"),
        ),
        _setting(
            "RUNNER",
            "`ray` (Ray Tune), `local` (processes, no Ray); both give equal weights",
            "ray|local",
            "ray",
            ("ray", "local"),
        ),
        _setting("ARM", "with or without an enhancement NAME", "on|off", "(on)", ("on", "off")),
        _setting("TRIALS", "how many rates are tried", "16", "16", int),
        _setting("SEED", "first random seed", "1", "1", int),
        _setting("RATES", "range of learning rates to search", "low,high", "(factor 30 around)"),
        _setting("TOPIC", "only one topic", "input|block|head|loss|optimiser|data|schedule"),
        _setting("FIND", "only enhancements with these words", "words"),
        _setting("STUDY", "a study or search, or the beginning of its id", "…"),
        _setting("PORT", "of the server", "5000", "5000", int),
        _setting("A", "a player", "TRIAL|gnugo|'any GTP command'"),
        _setting("B", "its opponent", "…"),
        _setting("GAMES", "number of games", "100", "", int),
        _setting("LEVEL", "of GNU Go", "10", "10", int),
        _setting("RULES", "of the games", "chinese|japanese", "", ("chinese", "japanese")),
        _setting("FROM", "folder with trial directories", "folder", "", "path"),
    )
)
STUDY = tuple(SETTINGS)[: tuple(SETTINGS).index("RUNNER")]
"""Settings of a study (`ablations.request.Request`), in the order in which they are printed."""
SETUP = ("PYTHON", "TORCH")
"""Settings of the set-up, which every target reads, from the environment too."""

Target = collections.namedtuple("Target", "name, group, help, verb, arguments, options, shown")
Target.__doc__ = """A target of make.

verb: of `gonn`, in words; empty for targets that `orchestration.bootstrap` runs itself; arguments: settings that it
passes without a name; options: settings that it passes as options; shown: the optional ones that make's list names (the
others are in docs/settings.md).
"""
PYTEST = {
    "test": ("--numprocesses auto --dist worksteal -m", "not system and not cards"),
    "test-quick": ("--numprocesses auto --dist worksteal -m", "not slow and not system and not cards"),
    "test-system": ("--numprocesses auto --dist loadfile -m", "system"),
    "test-cards": ("-m", "cards"),
}
"""Targets that run pytest: its arguments, and the expression that selects tests."""
_PLACE = ("DATA", "DATA_DIR", "BUDGET", "PRECISION")
_RUN = ("DEVICE", "COMPILE")
_STUDY = tuple(name for name in STUDY if name != "NAME")
_TARGETS = {
    "Finding enhancements": (
        ("list", "enhancements by topic, with the effects measured here", "list", "", "TOPIC FIND", "TOPIC FIND"),
        ("show", "one enhancement: what it changes, its claims and sources", "show", "NAME"),
    ),
    "Studies": (
        (
            "plan",
            "what a study would train, how long it takes, what it could show; settings as for make ablation",
            "plan",
            "NAME",
            _STUDY,
        ),
        (
            "ablation",
            "run a study: does it help? docs/settings.md explains all settings",
            "ablate",
            "NAME",
            (*_STUDY, "RUNNER"),
            "DATA BUDGET SEEDS SAMPLES BASE DESIGN PRECISION LR RUNNER",
        ),
        (
            "scale",
            "a base alone over samples, which shows what effects are worth",
            "scale",
            "BASE",
            (*_PLACE, "SAMPLES", "SEEDS", *_RUN, "LR", "RUNNER"),
            "DATA BUDGET SAMPLES SEEDS",
        ),
        (
            "lr-search",
            "find a learning rate of a base, or of an enhancement",
            "search run",
            "NAME",
            (*_PLACE, "BASE", "ARM", "TRIALS", "SEED", "RATES", *_RUN, "RUNNER"),
            "BASE ARM DATA BUDGET TRIALS RATES",
        ),
        ("record", "train the recipe in records/ and print its row", "record", "", "DATA_DIR DEVICE", "DATA_DIR"),
        ("report", "tables and figures of all studies, from the trial directories", "report"),
        ("ui", "the MLflow UI on 127.0.0.1", "ui", "", "PORT STUDY", "PORT STUDY"),
        ("status", "studies and searches: trials by state, rate, failures", "status"),
        ("stop", "ask running commands to pause; the same commands resume", "stop", "STUDY", "", "STUDY"),
    ),
    "Nets that play": (
        ("models", "trained nets to play with: ids, accuracy, Elo", "models", "BASE", "", "BASE"),
        (
            "match",
            "games between nets or engines",
            "match",
            "A B",
            "GAMES LEVEL RULES SEED",
            "GAMES LEVEL RULES SEED",
        ),
        ("rate", "Elo of all players that met in matches", "rate"),
        (
            "elo",
            "Elo of a run's snapshots by games against each other and GNU Go",
            "elo",
            "BASE",
            "DATA BUDGET SEED GAMES",
            "DATA BUDGET SEED GAMES",
        ),
    ),
    "Games and machines": (
        ("data", "build the position store of a data set", "data build", "DATA", "DATA_DIR", "DATA_DIR"),
        ("import", "import trial directories from another machine", "import", "FROM"),
        ("sync", "rebuild MLflow's records from the trial directories", "sync"),
        ("clean", "list unreferenced files and their size; `gonn clean --yes` removes them", "clean"),
        ("doctor", "what this machine has, and which precision is faster on it", "doctor", "", "DEVICE", "DEVICE"),
    ),
    "Developing": (
        ("help", "this text"),
        ("setup", "make .venv with the pinned versions (every target does this when needed)"),
        ("queue", "trials worth GPU minutes: which are done, which is next"),
        ("remake", "remake every generated file; `gonn check` names those that are out of date"),
        ("lint", "rules, formatting and types: ruff check, ruff format --check, mypy"),
        ("test", "the test suite; tests with Ray, servers or killed processes are in test-system"),
        ("test-quick", "the test suite without its slow tests"),
        ("test-system", "tests that kill processes, start Ray and servers"),
        ("test-cards", "a smoke study of every enhancement and its arms on a simulated GPU, half an hour"),
    ),
}


def _target(group, name, help, verb="", arguments="", options="", shown=""):
    words = [part.split() if isinstance(part, str) else part for part in (verb, arguments, options, shown)]
    return Target(name, group, help, *map(tuple, words))


TARGETS = collections.OrderedDict((row[0], _target(group, *row)) for group, rows in _TARGETS.items() for row in rows)


def reads(target):
    """Names of the settings that a target reads."""
    return (*target.arguments, *target.options)


def option(name):
    """`CONTROL_SEEDS` -> `--control-seeds`."""
    return "--" + name.lower().replace("_", "-")


def line_of(settings):
    """`NAME=elu BASE=gonn-b5 …`: settings (name -> value or None) in the order of the table."""
    return " ".join(f"{name}={settings[name]}" for name in SETTINGS if settings.get(name))


def arguments_of(verb, settings, positional=("NAME",)):
    """The words after `gonn`: a verb with its settings (name -> value), in the order of the table."""
    words = verb.split() + [settings[name] for name in positional if settings.get(name)]
    for name in SETTINGS:
        if name not in positional and settings.get(name):
            words += [option(name), settings[name]]
    return words


def command(verb, settings, positional=("NAME",), more=()):
    """A command that may be typed. Settings at their defaults are left out of `settings` by the caller."""
    return shlex.join(["gonn", *arguments_of(verb, settings, positional), *more])


def usage(target):
    """`NAME=parametric_relu [DATA=starter …]`: the settings of a target, as make's list shows them."""
    required = [f"{name}={SETTINGS[name].values}" for name in target.arguments if name not in target.shown]
    optional = [f"{name}={SETTINGS[name].values}" for name in target.shown]
    return " ".join(required + (["[" + " ".join(optional) + "]"] if optional else []))


def makefile_lists():
    """The two generated lines of the Makefile."""
    names = (*SETTINGS, "TORCH", "RAY_ADDRESS")
    return f"SETTINGS = {' '.join(names)}\nTARGETS = {' '.join(TARGETS)}\n"


def docs_table():
    """The table of docs/settings.md, in markdown."""
    rows = ["| setting | default | values |", "|---|---|---|"]
    for name in (*STUDY, "RUNNER"):
        setting = SETTINGS[name]
        default = setting.default
        if default.startswith("("):
            default = default[1:-1]
            default = f"`{default}`" if default.startswith("$") else default
        elif default:
            default = f"`{default}`"
        rows.append(f"| `{name}` | {default} | {setting.doc} |")
    rows.append("| `TORCH` | `auto` | `cpu`, `cuda`: the build of torch that the set-up takes |")
    return "\n".join(rows) + "\n"
