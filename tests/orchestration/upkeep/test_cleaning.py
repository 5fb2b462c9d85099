"""`gonn clean`: shows what nothing refers to, removes it only with --yes, and never what is used or worked on."""

import json
import os
import shutil
from pathlib import Path

import pytest

from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from gonn_core.trial.lease import Lease
from orchestration.cli import command as cli
from orchestration.search.optuna_rates import all_searches, keep_search, open_journal
from orchestration.upkeep import cleaning
from reports.workspace import Workspace
from tests.orchestration.fakes import write_trial
from tests.orchestration.search_fakes import made_search
from tests.reports.made_studies import plan_study
from tests.reports.play.made_matches import ENGINE, net, won, write_match

USED, LEFT, HELD, SEARCHED = ("1" * 16, "2" * 16, "3" * 16, "4" * 16)
KNOWN = "relu-gonn-b5-smoke-starter-abcdef"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A study with a trial, an unused trial, one at work, one of a search and one of the queue; reports."""
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    queued = sorted(cleaning.committed_jobs())[0]
    search = keep_search(Workspace(tmp_path), made_search())
    for trial in (USED, LEFT, SEARCHED, queued):
        write_trial(tmp_path / "runs" / trial, "done")
    write_trial(tmp_path / "runs" / HELD, "running")
    change(tmp_path / "runs" / SEARCHED / "config.json", labels={"search": search.id})
    write_study(tmp_path, KNOWN)
    for name in (KNOWN, "gone-gonn-b5-smoke-starter-012345", "mine"):
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / "report.json").write_text(
            json.dumps({"study": {"id": name if name != "mine" else KNOWN}})
        )
        (tmp_path / "out" / name / "manifest.json").write_text("{}")
    return tmp_path


def change(path: Path, **values) -> None:
    path.write_text(json.dumps(read_json(path) | values))


def write_study(home: Path, name: str) -> None:
    study = plan_study(home / "elsewhere", "parametric_relu", seeds=(1,)).study
    trials = [{"trial": USED, "arm": study.arms[0].id, "seed": 1}]
    tree = study.model_dump(mode="json") | {"id": name, "trials": trials}
    (home / "studies" / name).mkdir(parents=True)
    (home / "studies" / name / "study.json").write_text(json.dumps(tree))


def names(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in cleaning.unused(Workspace(home))}


GONE = {f"runs/{LEFT}", "out/gone-gonn-b5-smoke-starter-012345"}


def test_what_nothing_refers_to_is_found(home):
    assert names(home) == GONE


def test_a_trial_that_a_search_was_told_stays_whoever_trained_it(home):
    (search,) = all_searches(Workspace(home))
    tried = open_journal(Workspace(home), search).ask()
    write_trial(home / "runs" / tried.trial, "done")
    change(home / "runs" / tried.trial / "config.json", labels={"study": "gone"})
    assert names(home) == GONE
    shutil.rmtree(home / "searches")
    assert names(home) == GONE | {f"runs/{tried.trial}", f"runs/{SEARCHED}"}


def test_what_a_search_refers_to_must_be_known(home):
    (home / "searches" / "broken").mkdir()
    (home / "searches" / "broken" / "search.json").write_text("{}")
    with pytest.raises(InputError, match="search file of format None"):
        names(home)


def test_it_is_shown_and_stays_unless_told_so(home, capsys):
    before = sorted(home.rglob("*"))
    assert cli.run(["clean"]) == 0
    said = capsys.readouterr().out
    assert LEFT in said and "nothing was removed" in said and USED not in said
    assert sorted(home.rglob("*")) == before
    assert cli.run(["clean", "--yes"]) == 0
    assert set(before) - set(home.rglob("*")) >= {home / each for each in GONE}
    assert sorted(path.name for path in (home / "runs").iterdir()) == sorted(
        {USED, HELD, SEARCHED, sorted(cleaning.committed_jobs())[0]}
    )
    assert names(home) == set() and cli.run(["clean"]) == 0 and "nothing to remove" in capsys.readouterr().out


def test_a_trial_that_somebody_begins_to_work_on_meanwhile_stays(home, monkeypatch, capsys):
    found = cleaning.unused(Workspace(home))
    with Lease.take(home / "runs" / LEFT):
        monkeypatch.setattr(cleaning, "unused", lambda *_: found)
        assert cli.run(["clean", "--yes"]) == 0
    assert (home / "runs" / LEFT / "result.json").exists() and "kept" in capsys.readouterr().out


def test_strangers_and_links_stay(home, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "config.json").write_text("{}")
    os.symlink(elsewhere, home / "runs" / ("5" * 16))
    (home / "runs" / "my notes").mkdir()
    assert names(home) == GONE


def test_a_removal_that_was_killed_is_finished(home):
    shutil.move(home / "runs" / LEFT, home / "runs" / f".removing-{LEFT}-0011")
    assert names(home) == GONE - {f"runs/{LEFT}"} | {f"runs/.removing-{LEFT}-0011"}
    assert cli.run(["clean", "--yes"]) == 0 and names(home) == set()


def test_who_played_is_kept(home):
    assert LEFT in {path.name for path in cleaning.unused(Workspace(home))}
    match = write_match(home / "matches", ENGINE, net(LEFT), won(1, 1))
    assert LEFT not in {path.name for path in cleaning.unused(Workspace(home))}
    (match / "match.json").write_text("{}")
    with pytest.raises(InputError):
        cleaning.unused(Workspace(home))
