"""A page for a browser: one self-contained file that fetches nothing; every name from a file is inert."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import unescape
from importlib.resources import files

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from gonn_core.errors import printable
from gonn_core.metrics import UNIFORM_NATS
from reports.figures.style import Reach, reach
from reports.page import TEMPLATES, ForestRow, Page, forest_groups
from reports.results.compare import StudyAnalysis, arm_curve, paired_curve
from reports.results.study_results import StudyResults
from reports.stats.estimates import half_width
from reports.stats.verdicts import Verdict
from reports.tables import formats
from reports.tables.cells import Cell
from reports.tables.formats import NONE
from reports.tables.writers import stacks

PICTURES_AT_MOST = 2_000_000
"""Characters of all pictures in the file."""
_HERE = files("reports.html")
_SCRIPTS = ("tables.js", "curves.js", "page.js")
_MARKDOWN = MarkdownIt("commonmark", {"html": False})


def html_page(page: Page, pictures: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """The file's bytes. pictures: name -> files of those that are drawn; others are left out.

    The policy lets a browser run this script and style only and fetch nothing.
    """
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    curves = [curve for section in page.sections for curve in section.curves]
    text = _template().render(
        page=page,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
        data=Markup(inert_json({"curves": curves})),
        pictures=_inside(page, pictures),
    )
    for coverage in page.coverage:
        # `kgs, 4 of 15 training years (missing …)` once, then without what is missing
        whole = str(escape(_shown(coverage)))
        before, first, after = text.partition(whole)
        text = before + first + after.replace(whole, whole.partition(" (")[0])
    return (_squeezed(text) + "\n").encode()


def _inside(page: Page, pictures: Mapping[str, Mapping[str, bytes]]) -> dict[str, tuple[str, bool]]:
    """Name of a picture -> its address, and whether it holds the picture: those beyond PICTURES_AT_MOST are named only,
    because they are files next to the page."""
    room, addresses = PICTURES_AT_MOST, {}
    for picture in page.pictures:
        if files := pictures.get(picture.name):
            name, content = min(files.items(), key=lambda file: (len(file[1]), file[0]))
            kind = "svg+xml" if name.endswith(".svg") else "png"
            address = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
            inside = len(address) <= room
            room -= len(address) if inside else 0
            addresses[picture.name] = (address if inside else f"{picture.name}.png", inside)
    return addresses


def _squeezed(text: str) -> str:
    """Without empty lines."""
    return re.sub(r"\n\s*\n", "\n", text).strip()


def inline(text: str) -> Markup:
    """One sentence in markdown as HTML; raw HTML in it is text."""
    return Markup(_MARKDOWN.renderInline(printable(unescape(text), len(text))))


def breakable(text: str) -> Markup:
    """A list of names that may be broken between them."""
    safe = str(escape(_shown(text)))
    return Markup(re.sub(r"(?<=\w)([+,])(?=\w)", r"\1<wbr>", safe))


def sort_key(cell: Cell) -> float | str | None:
    """Sort key of a cell where it is not its text: its number, or the first of several; empty if there is none."""
    value = cell.value[0] if isinstance(cell.value, (list, tuple)) and cell.value else cell.value
    if isinstance(value, Verdict):
        return value.rank
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(f"{value:.6g}")
    return "" if cell.text in (NONE, "") else None


def anchor(title: str) -> str:
    """The name of a section in addresses."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def inert_json(data: object) -> str:
    """JSON that ends no script element whatever its texts are; the same bytes for the same data."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (inline, sort_key, breakable, anchor, caption)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters["forest"], environment.filters["stacks"] = forest_svg, lambda table: stacks(table.shown())
    return environment.get_template("page.html.j2")


def _shown(value: object) -> object:
    """Texts without control characters, and without those that turn the direction of writing."""
    return printable(value, len(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _style() -> str:
    return _squeezed(_text("vendor", "uPlot.min.css") + "\n" + _text("assets", "page.css"))


@cache
def _script() -> str:
    licence = _text("vendor", "uPlot-LICENSE.txt").strip()
    parts = [f"/*! uPlot\n{licence}\n*/", _text("vendor", "uPlot.iife.min.js")]
    return _squeezed("\n".join([*parts, *(_text("assets", name) for name in _SCRIPTS)]))


def _text(folder: str, name: str) -> str:
    return _HERE.joinpath(folder, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """As a policy names a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


_DIGITS = 4
_WIDTH, _LABELS, _ROOM = 1000, 250, 24
_ROW, _HEAD, _FOOT = 22, 12, 44
_TICKS = 7


def study_curves(results: StudyResults, nats: StudyAnalysis) -> dict | None:
    """What the charts of a study are drawn from; None while no trial has a progress point.

    arms: seeds (a line each) and their mean where all seeds of the arm that got anywhere have a point; differences:
    means over pairs with 95 % bands over seeds, and effects on the test games with their intervals.
    """
    study, many = results.study, results.study.design == "screen"
    counts = sorted({line["samples"] for trial in results.trials for line in trial.curve if "nats" in line})
    if not counts:
        return None
    arms = []
    for index, arm in enumerate(study.arms):
        label, seeds, mean = arm_curve(results, arm)
        lines = [_rounded([points.get(count) for count in counts]) for points in seeds]
        thin = many and bool(index)
        arms.append({"label": label, "thin": thin, "seeds": lines, "mean": _rounded([mean.get(at) for at in counts])})
    return {
        "title": printable(study.title, 160),
        "id": study.id,
        "samples": counts,
        "total": max(arm.config.training.samples for arm in study.arms),
        "uniform": round(UNIFORM_NATS, _DIGITS),
        "arms": arms,
        "differences": _differences(results, nats, counts),
    }


def _differences(results: StudyResults, nats: StudyAnalysis, counts: Sequence[int]) -> list[dict]:
    study, differences = results.study, []
    if study.design == "screen":  # its arms differ in many enhancements at once
        return []
    for contrast in study.contrasts:
        curve = paired_curve(results, contrast) if study.pairing == "by_position" else {}
        if not curve:
            continue
        effect, tested = nats.effect(contrast.card), None
        if effect is not None:
            tested = _rounded((effect.with_ends + [None, None])[:3])
        bands = {count: (float(deltas.mean()), half_width(deltas)) for count, deltas in curve.items()}
        at = [bands.get(count, (math.nan, math.nan)) for count in counts]
        differences.append(
            {
                "label": printable(contrast.card, 60),
                "mean": _rounded([mean for mean, _ in at]),
                "low": _rounded([mean - half for mean, half in at]),
                "high": _rounded([mean + half for mean, half in at]),
                "tested": tested,
            }
        )
    return differences


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or not math.isfinite(value) else round(value, _DIGITS) for value in values]


ABOVE = (
    "Above: validation nats over samples; thin lines are seeds, thick ones their mean. What is worse than a uniform "
    f"guess ({UNIFORM_NATS:.2f} nats) is cut off, with a triangle at the edge."
)
BELOW = (
    "Below: paired difference, with minus without (below 0: helps), with its 95 % band over seeds; right of the last "
    "sample the effect on the test games with its interval, as in the table."
)


def caption(curves: Sequence[dict]) -> str:
    """What the charts of these studies show, in words."""
    return f"{ABOVE} {BELOW}" if any(study["differences"] for study in curves) else ABOVE


def forest_svg(rows: Sequence[ForestRow]) -> Markup:
    """The picture; empty without rows."""
    if not rows:
        return Markup("")
    lines = forest_groups(rows)
    ends = [end for row in rows for low, high, _ in row.claims for end in (low, high)]
    axis = reach([(row.delta, row.ends) for row in rows], ends)
    bottom = _HEAD + _ROW * len(lines)
    parts = [_axis(axis, bottom)]
    for place, line in enumerate(lines):
        middle = _HEAD + _ROW * place + _ROW // 2
        if isinstance(line, str):
            parts.append(f'<text class="group" x="0" y="{middle + 4}">{escape(printable(line, 80))}</text>')
        else:
            parts.append(_effect(line, middle, axis))
    size = f'viewBox="0 0 {_WIDTH} {bottom + _FOOT}"'
    return Markup(
        f'<svg class="forest" role="img" aria-label="Effects with their intervals" {size}>{"".join(parts)}</svg>'
    )


def _x(value: float, axis: Reach) -> float:
    """Place of a value; values outside are at the edge."""
    share = (min(max(value, axis.low), axis.high) - axis.low) / (axis.high - axis.low)
    return round(_LABELS + share * (_WIDTH - _LABELS - _ROOM), 1)


def _axis(axis: Reach, bottom: int) -> str:
    raw = (axis.high - axis.low) / _TICKS
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= raw)  # a round distance
    parts = []
    for tick in (step * number for number in range(math.ceil(axis.low / step), math.floor(axis.high / step) + 1)):
        x, kind = _x(tick, axis), "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_HEAD}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x}" y="{bottom + 16}">{formats.minus(f"{tick:.6g}")}</text>')
    text, middle = "Δ test nats, with − without (left of 0: helps)", (_LABELS + _WIDTH - _ROOM) / 2
    return "".join([*parts, f'<text class="tick" x="{middle}" y="{bottom + 36}">{text}</text>'])


def _effect(row: ForestRow, middle: int, axis: Reach) -> str:
    """The row: name, band of what could be shown, claims, interval and point, with a tooltip."""
    parts = [f"<title>{escape(printable(row.tip or row.label, 600))}</title>"]
    parts.append(f'<rect class="row" x="0" y="{middle - _ROW // 2}" width="{_WIDTH}" height="{_ROW}"/>')
    parts.append(f'<text class="label" x="8" y="{middle + 4}">{escape(printable(row.label, 40))}</text>')
    if row.could_show is not None:
        left, right = _x(-row.could_show, axis), _x(row.could_show, axis)
        parts.append(f'<rect class="band" x="{left}" y="{middle - 8}" width="{round(right - left, 1)}" height="16"/>')
    for low, high, tested in row.claims:
        x = _x((low + high) / 2, axis)
        kind = "claim" if tested else "claim other"
        parts.append(
            f'<line class="{kind}" x1="{_x(low, axis)}" x2="{_x(high, axis)}" y1="{middle + 7}" y2="{middle + 7}"/>'
        )
        parts.append(f'<path class="{kind}" d="M{x} {middle + 3}l4 4-4 4-4-4z"/>')
    if row.ends is not None and (axis.holds(row.ends.low) or axis.holds(row.ends.high) or axis.holds(row.delta)):
        left, right = _x(row.ends.low, axis), _x(row.ends.high, axis)
        parts.append(f'<line class="range" x1="{left}" x2="{right}" y1="{middle}" y2="{middle}"/>')
        if not axis.holds(row.ends.low):
            parts.append(f'<path class="point" d="M{left} {middle}l7 -4v8z"/>')
        if not axis.holds(row.ends.high):
            parts.append(f'<path class="point" d="M{right} {middle}l-7 -4v8z"/>')
    x = _x(row.delta, axis)
    if axis.holds(row.delta):
        parts.append(f'<circle class="point" cx="{x}" cy="{middle}" r="4.5"/>')
    else:
        left = row.delta < axis.low
        sign, anchor = (1, "start") if left else (-1, "end")
        parts.append(f'<path class="point" d="M{x} {middle}l{9 * sign} -5v10z"/>')
        text = formats.with_interval(row.delta, row.ends)
        parts.append(f'<text class="far" text-anchor="{anchor}" x="{x + 14 * sign}" y="{middle + 4}">{text}</text>')
    return f'<g class="effect {row.verdict.tone}">{"".join(parts)}</g>'
