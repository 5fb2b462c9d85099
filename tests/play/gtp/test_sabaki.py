"""Sabaki's own GTP client as the controller, where node and the npm package @sabaki/gtp are (`npm install
@sabaki/gtp`).

The package is looked for in node_modules beside this repository's README, or in the folder that NODE_PATH names.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gonn_core.play.gtp.commands import COMMANDS
from tests.paths import ROOT
from tests.waiting import PATIENCE

SCRIPT = Path(__file__).parent / "sabaki_controller.js"
MODULES = [
    Path(folder)
    for folder in [*os.environ.get("NODE_PATH", "").split(os.pathsep), str(ROOT / "node_modules")]
    if folder
]


def drive(*engine: str) -> dict:
    """What Sabaki's client saw of an engine. Skips where it is not there."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if not any((folder / "@sabaki" / "gtp").is_dir() for folder in MODULES):
        pytest.skip("npm install @sabaki/gtp, and NODE_PATH=its node_modules")
    environment = {**os.environ, "NODE_PATH": os.pathsep.join(map(str, MODULES)), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [node, SCRIPT, *engine], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sabaki_plays_takes_back_analyses_and_quits():
    seen = drive(sys.executable, "-m", "tests.play.gtp.board")
    assert seen["start"][:3] == ["gonn", "test", "2"] and seen["start"][3].split("\n") == list(COMMANDS)
    assert seen["main"] == "move 5, black to move" and seen["variation"] == "move 6, white to move"
    assert seen["generated"] == "D16" and seen["tracked"] == 6
    assert seen["handicap"] == "move 3, black to move"
    assert seen["small"] == "Board size is not supported by engine"
    assert seen["busy"] and not seen["analysisError"] and seen["abort"] == "2"
    assert re.match(r"info move D16 visits \d+ winrate 0\.5000 prior 0\.\d+ ", seen["analysis"])
    assert re.match(r"info move D16 visits \d+ winrate 5000 prior \d+ lcb 5000 ", seen["others"]["lz-analyze"])
    assert re.match(r"info move D16 visits \d+ winrate 0\.5 prior 0\.\d+ lcb 0\.5 ", seen["others"]["kata-analyze"])
    assert seen["generatedWithAnalysis"] == ["play D16", 1]
    assert seen["errors"] == [
        [True, "unknown command"],
        [True, "invalid color or coordinate"],
        [True, "illegal move (occupied)"],
        [True, "invalid color or coordinate"],
        [True, "syntax error"],
    ]
    assert seen["numbered"] == {"id": 17, "content": "gonn", "error": False} and seen["exit"] == 0
