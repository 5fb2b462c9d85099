"""A page for a browser: one self-contained file that fetches nothing; every name from a file is inert."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from html import unescape
from importlib.resources import files

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from gonn_core.errors import printable
from reports.html.charts import caption, forest_svg
from reports.page import TEMPLATES, Page
from reports.stats.verdicts import Verdict
from reports.tables.cells import Cell, Column, Table
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


def _stacks(table: Table) -> list[list[Column]]:
    return stacks(table.shown())


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
    environment.filters |= {"forest": forest_svg, "stacks": _stacks}
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
