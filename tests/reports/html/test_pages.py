"""Pages for a browser: what stands in them, that names in them are inert, that they fetch nothing; read without one."""

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest

from gonn_core.errors import markdown_escape, printable
from reports.book.book import book_page
from reports.html.page import forest_svg, html_page, inert_json, inline
from reports.page import ForestRow
from reports.results.decisions import load_results
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.render import write_report
from reports.study.report import make_report
from tests.paths import ROOT
from tests.reports.made_studies import fail_trial, plan_study, registry, train

HELPS = EffectVerdict.HELPS
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;`${x}`\u202e"


class Page(HTMLParser):
    """Elements with their attributes, the text of tables' cells by row, and of scripts."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.rows: list[list[str]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "span" and {"td", "th"} & set(self._open):
            self.rows[-1][-1] += " "
        if tag in self.inside:
            self.inside[tag].append("")
        if tag not in ("meta", "link", "br", "img", "wbr"):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag, f"</{tag}> closes what was not opened"

    def handle_data(self, data):
        if self._open and self._open[-1] in self.inside:
            self.inside[self._open[-1]][-1] += data
        elif {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def attributes(self, tag: str) -> list[dict]:
        return [about for name, about in self.elements if name == tag]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two cards, one that helps much; a trial failed, with an error that wants to be markup; hostile names."""
    folder = tmp_path_factory.mktemp("html")
    made = plan_study(
        folder,
        "parametric_relu",
        "ladder_input",
        seeds=(1, 2, 3),
        title=f"Evil {EVIL}",
        coverage="kgs, 4 (missing <b>2001</b>)",
    )
    train(made, {"without-parametric_relu": 0.4}, skip=[("without-ladder_input", 2)])
    failed = next(trial for trial in made.study.trials if (trial.arm, trial.seed) == ("without-ladder_input", 2))
    fail_trial(made, failed, f"Diverged: {EVIL}")
    return made


def written(made, out=None):
    results = load_results(made.study, made.runs, made.study_folder)
    return write_report(made.study, results, out or made.folder / "out", made.registry)


@pytest.fixture(scope="module")
def text(made):
    return written(made).html.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def shown(text: str) -> str:
    """What a person reads."""
    return unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style)[^>]*>.*?</\1>", "", text)))


def test_a_row_an_enhancement_with_interval_p_trials_and_command(made, page):
    rows: dict[str, list[str]] = {}
    for row in page.rows:
        if row and row[0].strip() in made.study.cards:
            rows.setdefault(row[0].strip(), row)
    assert set(rows) == set(made.study.cards)
    helps = rows["parametric_relu"]
    assert re.fullmatch(r"−\d\.\d{4}\s*\[−\d\.\d{4}, −\d\.\d{4}\]", helps[1].strip()) and helps[2].strip().startswith(
        "helps (q "
    )
    assert float(page.attributes("td")[0]["data-v"]) == pytest.approx(-0.4, abs=0.05)
    behind = next(row for row in page.rows if len(row) == 1 and "gonn ablate" in row[0])[0]
    trials = [trial.trial for trial in made.study.trials if trial.arm in ("gonn-b5", "without-parametric_relu")]
    assert all(trial in behind for trial in trials)
    assert "gonn ablate parametric_relu,ladder_input --base gonn-b5 --data kgs --budget smoke --seeds 3" in behind


def test_every_table_of_the_report_is_there(made, text, page):
    for name in ("arms", "effects", "rates", "claims", "metrics", "trials"):
        assert f'id="table-{name}"' in text
    assert all(about.get("scope") in ("col", "row") for about in page.attributes("th"))
    assert any([cell.strip() for cell in row[1:3]] == ["1", made.study.trials[0].trial] for row in page.rows)


def test_names_from_files_are_inert(page, text):
    assert not [about for about in page.attributes("img") if not about["src"].startswith("data:")]
    assert [about.get("type") for about in page.attributes("script")] == ["application/json", None]
    assert not [key for _, about in page.elements for key in about if key.startswith("on")]
    assert "\u202e" not in text and printable(EVIL, 200) in shown(text)


def test_nothing_is_fetched_and_only_these_scripts_run(page):
    policy = page.attributes("meta")[1]["content"]
    assert policy.startswith("default-src 'none'; img-src data:;") and "unsafe" not in policy
    for kind, texts in (("script", page.inside["script"][1:]), ("style", page.inside["style"])):
        (whole,) = texts
        digest = base64.b64encode(hashlib.sha256(whole.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    places = [about[key] for _, about in page.elements for key in ("src", "href", "action") if key in about]
    assert all(place.startswith(("data:", "#")) for place in places)
    assert "style" not in {key for _, about in page.elements for key in about}


def test_the_data_of_curves_are_those_of_the_trials(made, page):
    (curves,) = json.loads(page.inside["script"][0])["curves"]
    assert [arm["label"] for arm in curves["arms"]][0] == "gonn-b5"
    lines = [
        json.loads(line)["nats"]
        for line in (made.runs / made.study.trials[0].trial / "metrics.jsonl").read_text().splitlines()
        if "nats" in line
    ]
    assert curves["arms"][0]["seeds"][0] == [round(value, 4) for value in lines]
    assert len(curves["differences"]) == 2 and curves["uniform"] == 5.8889
    assert all(len(each["mean"]) == len(curves["samples"]) for each in curves["differences"])


def whole_page(*reports) -> str:
    """The page over these studies, without pictures, which take long to draw."""
    return html_page(book_page(reports, [], registry()), {}).decode()


def test_the_page_over_everything(made):
    """All cards, measured or with the command that would; the documents' tables; the studies."""
    report = make_report(load_results(made.study, made.runs, made.study_folder), made.registry)
    text = whole_page(report)
    assert text == whole_page(report) and len(text) < 1_000_000
    page = Page(text)
    rows = {row[0].split()[0]: row for row in reversed(page.rows) if row and row[0].strip()}
    assert set(registry().cards) <= rows.keys() and "Darkforest (2016)" in text
    ours, command = rows["ko_plane"][3].split("\n")[0].strip(), rows["ko_plane"][6].strip()
    assert ours == "not measured yet" and command.startswith("make ablation NAME=ko_plane")
    assert f"../{made.study.id.replace('+', '%2B')}/report.html" in [about["href"] for about in page.attributes("a")]
    assert "not tested here" in text and "application/json" in text and EVIL not in text
    assert set(registry().cards) <= {row[0].split()[0] for row in Page(whole_page()).rows if row and row[0].strip()}


def test_vendored_files_are_those_of_their_version():
    folder = ROOT / "reports" / "html" / "vendor"
    versions = json.loads((folder / "VERSIONS.json").read_text())
    named = {name for about in versions.values() for name in about["sha256"]}
    assert named | {"VERSIONS.json"} == {path.name for path in folder.iterdir()}
    for about in versions.values():
        for name, digest in about["sha256"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
        assert about["license"] == "MIT" and any(name.endswith("LICENSE.txt") for name in about["sha256"])


def test_a_forest_has_a_row_per_effect_and_numbers_where_one_is_far():
    rows = [
        ForestRow(f"card{n}", "base", 0.01 * n, Interval(0.01 * n - 0.02, 0.01 * n + 0.02), HELPS) for n in range(4)
    ]
    far = ForestRow("far", "base", -1.4, Interval(-1.5, -1.3), HELPS, could_show=0.02, claims=((-0.03, -0.01, True),))
    svg = Page(str(forest_svg([*rows, far])))
    assert len(svg.attributes("circle")) == 4 and len([about for about in svg.attributes("g")]) == 5
    assert "−1.4000 [−1.5000, −1.3000]" in forest_svg([*rows, far]) and "−1.4" not in forest_svg(rows)
    assert forest_svg([]) == ""


def test_prose_and_json_are_inert():
    assert inline("**a** <b> `c*d*` x *y* & z") == (
        "<strong>a</strong> &lt;b&gt; <code>c*d*</code> x <em>y</em> &amp; z"
    )
    assert "href" not in inline("[x](javascript:alert(1))") and "<script" not in inline(markdown_escape(EVIL))
    assert "<" not in inert_json({"</script>": "<!--"}) and json.loads(inert_json({"a": "</b>&"})) == {"a": "</b>&"}
