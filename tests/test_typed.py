"""Commands in the pages, as they are typed: make takes their settings, gonn their words; those of docs/settings.md are
run."""

import re
import shlex
import shutil

import click
import pytest

from ablations.settings import TARGETS
from orchestration.bootstrap import GIVEN, GOALS, module_of, problem
from orchestration.cli import command as cli
from orchestration.experiment import speeds
from tests.paths import ROOT
from tests.trial.helpers import starter_data

PAGES = [
    ROOT / "README.md",
    ROOT / "ablations/README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
REFUSED = ("make plan NAME=chain_pooling,smolgen", "make plan NAME=parametric_relu BUGET=smoke")
"""Shown with the line that answers them."""


def typed(page) -> list[str]:
    """Indented lines of a page that call make or gonn, as far as what they write goes elsewhere."""
    lines = re.findall(r"(?m)^    +((?:make|(?:\.venv/bin/)?gonn)(?: .*)?)$", page.read_text(encoding="utf-8"))
    return [re.split(r" (?:[|<>;]|&&?)(?: |$)", line.removeprefix(".venv/bin/"))[0].strip() for line in lines]


def make_problem(line: str) -> str | None:
    """What make would say of it."""
    _, *words = shlex.split(line, comments=True)
    given = [word.partition("=")[0] for word in words if "=" in word]
    goals = [word for word in words if "=" not in word]
    return problem({GIVEN: " ".join(given), GOALS: " ".join(goals)})


def read_by_gonn(words: list[str]) -> None:
    """Have click read the words; raises what it raises."""
    command = cli.gonn
    while isinstance(command, click.Group) and words:
        _, command, words = command.resolve_command(click.Context(command), words)
    if command is not cli.gonn:
        command.make_context("gonn", words)


def gonn_words(line: str) -> list[str]:
    """The words after gonn, of a make command by its target's recipe."""
    program, *words = shlex.split(line, comments=True)
    if program == "gonn":
        return words
    (target,) = [word for word in words if "=" not in word]
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    return module_of(TARGETS[target], settings)[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_in_a_page_can_be_typed(page):
    for line in typed(page):
        if line.startswith("make") and line not in REFUSED:
            assert make_problem(line) is None, line
        elif line.startswith("gonn"):
            read_by_gonn(gonn_words(line))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """With the store of the bundled games."""
    home = tmp_path_factory.mktemp("settings")
    shutil.copytree(starter_data().store.folder.parent, home / "stores")
    return home


@pytest.mark.parametrize("line", [line for line in typed(ROOT / "docs/settings.md") if "new-card" not in line])
def test_commands_of_the_settings_page_are_run(line, workspace, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(workspace))
    monkeypatch.setattr(speeds, "one_speed", lambda *_: (500.0, 500.0))
    if problem := line.startswith("make") and make_problem(line):
        assert line in REFUSED and problem.startswith("BUGET")
        return
    code = cli.run(gonn_words(line))
    out, err = capsys.readouterr()
    assert (code == 2) == (line in REFUSED) and (out if code == 0 else err.startswith("NAME=chain_pooling,smolgen: "))
