"""Pages for a browser: what stands in them, that names in them are inert, that they fetch nothing; read without one."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from gonn_core.errors import printable
from reports.book.book import book_sections
from reports.html.bars import bar, scale
from reports.html.book import book_page
from reports.html.effects import study_effects
from reports.html.page import html_page, inert_json, marked
from reports.html.verdicts import tone
from reports.results.decisions import load_results
from reports.study.render import write_report
from reports.study.report import make_report
from reports.study.report_tables import report_tables
from tests.paths import ROOT
from tests.reports.made_studies import fail_trial, plan_study, registry, train

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
        coverage=f"kgs, 4 (missing {EVIL})",
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


def test_the_enhancements_of_a_page_have_all_columns_of_the_table_of_effects(made):
    """In the row or in what is behind it: a new column of a study's table is to be added there too."""
    report = make_report(load_results(made.study, made.runs, made.study_folder), made.registry)
    tables = report_tables(report)
    effects, table = study_effects(report, tables, made.registry), tables.table("effects")
    rows = {row.key: row for row in effects.table.rows}
    for row in table.rows:
        texts = {cell.text for cell in rows[row.key].cells.values()} | {text for _, text in effects.details[row.key]}
        wanted = {
            column.key: row.cells[column.key].text.partition(" (q")[0] for column in table.columns if column.printed
        }
        assert {key: text for key, text in wanted.items() if text not in texts} == {}


def test_the_box_counts_verdicts_and_counts_of_parameters_apart(text):
    seen = " ".join(shown(text).split())
    assert "2 enhancements: 1 helps, 1 underpowered" in seen
    assert (
        re.search(r"\d+ claims? on effects: ", seen)
        and "Counts of parameters, which prove nothing of effects: " in seen
    )
    assert "Unfinished" in seen and "Diverged" in seen
    assert seen.index("2 enhancements") < seen.index("Δ test nats") < seen.index("Claims of the documents")


def test_a_row_an_enhancement_with_interval_p_trials_and_command(made, page):
    rows: dict[str, list[str]] = {}
    for row in page.rows:
        if row and row[0] in made.study.cards:
            rows.setdefault(row[0], row)
    assert set(rows) == set(made.study.cards)
    helps = rows["parametric_relu"]
    assert helps[1].startswith("−") and re.fullmatch(r"\[−\d\.\d{4}, −\d\.\d{4}\]", helps[2]) and helps[4] == "helps"
    assert float(page.attributes("td")[0]["data-v"]) == pytest.approx(-0.4, abs=0.05)
    behind = next(row for row in page.rows if len(row) == 1 and "gonn ablate" in row[0])[0]
    trials = [trial.trial for trial in made.study.trials if trial.arm in ("gonn-b5", "without-parametric_relu")]
    assert all(trial in behind for trial in trials)
    assert "gonn ablate parametric_relu,ladder_input --base gonn-b5 --data kgs --budget smoke --seeds 3" in behind


def test_every_table_of_the_report_is_there(made, text, page):
    for name in ("arms", "effects", "rates", "claims", "metrics", "move-numbers", "trials"):
        assert f'id="table-{name}"' in text
    assert all(about.get("scope") in ("col", "row") for about in page.attributes("th"))
    assert any(row[1:3] == ["1", made.study.trials[0].trial] for row in page.rows)


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


def test_the_years_of_the_games_are_told_whole_once(text):
    assert shown(text).count("(missing") == 1


def test_the_same_trials_give_the_same_bytes_and_a_small_file(made, text, tmp_path):
    again = written(made, tmp_path).html.read_bytes()
    assert again == text.encode() and len(again) < 500_000


def whole_page(*reports) -> str:
    """The page over these studies, without pictures, which take long to draw."""
    sections = [replace(section, pictures=()) for section in book_sections(reports, registry())]
    return book_page(sections, reports, [], registry(), {}).decode()


def test_the_page_over_everything(made):
    """All cards, measured or with the command that would; the documents' tables; the studies."""
    report = make_report(load_results(made.study, made.runs, made.study_folder), made.registry)
    text = whole_page(report)
    assert text == whole_page(report) and len(text) < 1_000_000
    page = Page(text)
    names = {row[0] for row in page.rows if row}
    assert set(registry().cards) <= names and "Darkforest (2016)" in names
    row = next(row for row in page.rows if row[0] == "ko_plane")
    assert row[2] == "not measured yet" and row[5].startswith("make ablation NAME=ko_plane")
    assert f"../{made.study.id.replace('+', '%2B')}/report.html" in [about["href"] for about in page.attributes("a")]
    assert "not tested here" in text and "application/json" in text and EVIL not in text


def test_without_any_study_there_is_a_page_with_every_card():
    names = {row[0] for row in Page(whole_page()).rows if row}
    assert set(registry().cards) <= names


def test_vendored_files_are_those_of_their_version():
    folder = ROOT / "reports" / "html" / "vendor"
    versions = json.loads((folder / "VERSIONS.json").read_text())
    named = {name for about in versions.values() for name in about["sha256"]}
    assert named | {"VERSIONS.json"} == {path.name for path in folder.iterdir()}
    for about in versions.values():
        for name, digest in about["sha256"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
        assert about["license"] == "MIT" and any(name.endswith("LICENSE.txt") for name in about["sha256"])


def test_bars_hold_most_and_point_beyond_where_they_do_not():
    edge = scale([[-0.42, -0.36], [-0.02, 0.01], [-0.01, 0.02], [-0.03, 0.0]])
    assert edge == pytest.approx(0.09)
    assert scale([]) == 1.0 and scale([[-0.42, -0.36]]) == 0.42
    assert "beyond" in bar(-0.4, [-0.42, -0.36], edge) and "point" not in bar(-0.4, [-0.42, -0.36], edge)
    assert "beyond" not in bar(0.0, [-0.01, 0.02], edge) and 'cx="60.0"' in bar(0.0, [-0.01, 0.02], edge)


def test_verdicts_are_coloured():
    tones = {"helps": "good", "hurts": "bad", "not shown: x": "plain", "underpowered": "open"}
    tones |= {
        "helps (q 0.03)": "good",
        "leans to helping (q 0.07)": "good-lean",
        "leans to hurting (q 0.4)": "bad-lean",
    }
    assert {verdict: tone(verdict) for verdict in tones} == tones


def test_prose_and_json_are_inert():
    assert str(marked("- **a** <b>\n- `c*d*`\n\nx *y* & z")) == (
        "<ul><li><strong>a</strong> &lt;b&gt;</li><li><code>c*d*</code></li></ul>\n<p>x <em>y</em> &amp; z</p>"
    )
    assert "<" not in inert_json({"</script>": "<!--"}) and json.loads(inert_json({"a": "</b>&"})) == {"a": "</b>&"}


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(Exception, match="study"):
        html_page("study.html.j2", {})
