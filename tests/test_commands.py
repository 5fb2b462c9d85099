"""Every command that README and the docs show is run by a test, or `docs/commands.md` says when it was run last."""

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

TABLE = ROOT / "docs" / "commands.md"
PAGES = sorted(
    path for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")] if path != TABLE
)
STARTS = ("make", ".venv/bin/", "gonn ", "python", "pip ", "mkdir ", "GONN_", "MLFLOW_", "git ", "npm ", "apt-get ")
RAN = re.compile(r"20\d\d-\d\d-\d\d, `[0-9a-f]{7,40}`( \(.+\))?")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`( \(.+\))?")


def commands(text: str) -> list[str]:
    """The commands in the indented and in the fenced code blocks of a page, without their comments."""
    found, fence = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else line[3:].strip()
        elif fence in ("", "sh", "bash", "console") or (fence is None and line.startswith("    ")):
            command = re.split(r"\s{2,}#|\s#\s", line.strip())[0].removeprefix("$ ").strip()
            if command.startswith(STARTS) and not command.startswith("make ablation NAME=…"):
                found.append(command)
    return found


def table() -> dict[str, str]:
    """What the table says of each command."""
    rows = re.findall(r"(?m)^\| `` (.+?) `` \| (.+?) \|$", TABLE.read_text(encoding="utf-8"))
    assert len(dict(rows)) == len(rows), "a command stands twice in docs/commands.md"
    return dict(rows)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_in_the_table(page: Path):
    missing = [each for each in commands(page.read_text(encoding="utf-8")) if each not in table()]
    assert missing == []


def test_the_table_has_no_command_that_is_shown_nowhere():
    shown = {each for page in PAGES for each in commands(page.read_text(encoding="utf-8"))}
    assert sorted(set(table()) - shown) == []


def test_each_row_names_a_test_that_is_there_or_a_run():
    for command, ran in table().items():
        named = TEST.fullmatch(ran)
        if named is None:
            assert RAN.fullmatch(ran), f"{command}: {ran}"
        else:
            file = ROOT / named[1]
            assert file.is_file() and f"def {named[2]}(" in file.read_text(encoding="utf-8"), f"{command}: {ran}"


def test_what_is_a_command():
    indented = "text\n\n    make plan NAME=a   # comment\n    stores/  folder\n"
    page = indented + "\n```sh\n$ gonn list\n```\n\n```python\ngonn = 1\n```\n"
    assert commands(page) == ["make plan NAME=a", "gonn list"]
