"""A new enhancement by `gonn new-card`, the whole way to its plan, in a copy of the declarations."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from orchestration.catalogue.drafting import new_card
from orchestration.cli import command as cli
from tests.paths import ROOT
from tests.trial.helpers import starter_data

NEW = shlex.split(re.search(r"gonn (new-card .*)", (ROOT / "ablations/introduction.md").read_text()).group(1))
"""As the introduction types it."""
WAY = """
import sys
from pathlib import Path
from ablations import readme
from orchestration.cli import command as cli

def gonn(*arguments):
    print("$", *arguments, flush=True)
    print("code", cli.run(list(arguments)), flush=True)
    sys.stderr.flush()

gonn(*sys.argv[1:])
gonn("check")
card = Path("ablations/cards/gonn/point_head.yaml")
card.write_text(card.read_text().replace('"TO DO: what it does, in one sentence."', "The last kernel is 1x1."))
gonn("check")
readme.main()
gonn("check")
gonn("show", "point_head")
gonn("list", "head", "1x1")
gonn("plan", "point_head", "--budget", "smoke")
"""


@pytest.mark.system
def test_the_whole_way(tmp_path):
    tree, home = tmp_path / "checkout", tmp_path / "home"
    shutil.copytree(ROOT / "ablations", tree / "ablations", ignore=shutil.ignore_patterns("__pycache__"))
    for package in ("gonn_core", "reports", "orchestration"):
        (tree / package).symlink_to(ROOT / package)
    shutil.copytree(starter_data().store.folder.parent, home / "stores")
    environment = {**os.environ, "GONN_HOME": str(home), "PYTHONPATH": str(tree), "COLUMNS": "160"}
    done = subprocess.run([sys.executable, "-c", WAY, *NEW], cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, drafted, unfinished, untold, checked, shown, listed, planned = done.stdout.split("$ ")
    assert (
        "wrote ablations/cards/gonn/point_head.yaml and ablations/documents/gonn_sandbox.yaml; base gonn-b5" in drafted
    )
    assert "code 0" in drafted and "still wrong" not in drafted
    assert unfinished.endswith("code 2\n")
    assert untold.splitlines()[2:] == [
        "out of date: ablations/README.md; make remake writes them again",
        "code 1",
        "ablations/README.md",
    ]
    assert done.stderr.startswith("cards/gonn/point_head.yaml.summary=TO DO: ")
    assert "code 0" in checked and checked.split()[1].isdigit()
    assert "no claims: " in shown and "topic head; described in gonn_sandbox, (not in the document)" in shown
    assert "1x1 last convolution" in listed and "code 0" in listed
    assert "with point_head" in planned and "net.head.kernel = 1" in planned and "code 0" in planned


@pytest.mark.parametrize("changes, line", [
    ({"--system": "alphago"}, "SYSTEM=alphago: no such system; valid: cazenave, clark_storkey, go_nn, gonn, lczero"),
    ({"--on": None}, "--setting: 1 settings, 1 off and 0 on values; valid: one --off and one --on after each "
                     "--setting"),
    ({"--setting": None, "--off": None, "--on": None}, "--setting: not given; valid: a setting such as net.activation, "
                                                       "with --off and --on"),
    ({"--title": None}, "TITLE: not given; usage: gonn new-card [OPTIONS] ID"),
    ({"--section": "Nowhere\x1b[2J", "--on": "x"}, "--on.net.head.kernel=x: "),
])  # fmt: skip
def test_what_cannot_be_is_one_line_and_nothing_is_written(capsys, changes, line):
    options = {**dict(zip(NEW[2::2], NEW[3::2], strict=True)), **changes}
    before = sorted((ROOT / "ablations").rglob("*.yaml"))
    arguments = [part for name, value in options.items() if value is not None for part in (name, value)]
    assert cli.run(["new-card", "point_head", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(line) and err.count("\n") == 1
    assert sorted((ROOT / "ablations").rglob("*.yaml")) == before


def test_what_is_still_wrong_is_said_and_kept(tmp_path, capsys):
    """An enhancement without effect on some budget: its author says why, or gives another form."""
    folder = tmp_path / "ablations"
    for kind in ("cards", "bases", "budgets", "published", "documents"):
        shutil.copytree(ROOT / "ablations" / kind, folder / kind)
    setting = ["training.schedule.offset"], ["14"], ["20"]
    new_card("later_offset", "gonn", "Later offset", *setting, folder=folder)
    out = capsys.readouterr().out
    assert "still wrong: " in out and (folder / "cards/gonn/later_offset.yaml").is_file()
