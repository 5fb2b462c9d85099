"""Every number over positions tells of which games it is."""

import re
from pathlib import Path

import reports
from reports.tables.cells import Column, of_split

TITLES = re.compile(r"Column\(\s*\"[^\"]*\",\s*f?\"([^\"]*)\"")
AXES = re.compile(r"[xy]label=f?\"([^\"]*)\"|set_[xy]label\(f?\"([^\"]*)\"")
BARE = re.compile(r"(?<!test )(?<!validation )(?<!train )(?<!split} )\b(nats|top-1|top-4)\b")


def test_columns_are_named_after_their_games():
    column = Column("nats", "Δ {split} nats", parts=("delta_{split}_nats", "interval95_low"))
    named = of_split([column, Column("arm", "arm")], "validation")
    assert [each.title for each in named] == ["Δ validation nats", "arm"]
    assert named[0].parts == ("delta_validation_nats", "interval95_low") and named[0].key == "nats"


def test_no_heading_and_no_axis_says_nats_alone():
    sources = [path.read_text(encoding="utf-8") for path in Path(reports.__path__[0]).rglob("*.py")]
    said = [title for text in sources for title in TITLES.findall(text)]
    said += [axis for text in sources for found in AXES.findall(text) for axis in found]
    assert len(said) > 100
    wrong = {title for title in said if BARE.search(title)}
    # The figure's legend tells its curves, of validation games, from its points.
    assert wrong == {"Δ nats (below 0: helps)"}
