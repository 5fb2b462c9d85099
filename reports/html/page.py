"""One self-contained file: style and scripts inside it, nothing fetched, every name from a file inert."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from html import unescape
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from gonn_core.errors import printable
from reports.html.cells import sort_key
from reports.html.verdicts import tone
from reports.pages import TEMPLATES
from reports.tables.verdicts import verdict_word

_HERE = files("reports.html")
_SCRIPTS = ("tables.js", "curves.js", "page.js")


def html_page(template: str, data: object, coverage: Iterable[str] = (), **values: object) -> bytes:
    """The file's bytes. `template`: of reports/templates, escaped by itself; `data`: what its scripts read, plain data;
    `coverage`: which years of games there were, told whole the first time alone.

    Its policy lets a browser run these scripts and this style alone and fetch nothing.
    """
    style, script = _style(), _script()
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = _environment().get_template(template)
    text = page.render(
        policy=policy, style=Markup(style), script=Markup(script), data=Markup(inert_json(data)), **values
    )
    for whole in coverage:
        text = _once(text, str(escape(_shown(whole))))
    return (_squeezed(text) + "\n").encode()


def _squeezed(text: str) -> str:
    """Without empty lines."""
    return re.sub(r"\n\s*\n", "\n", text).strip()


def _once(text: str, whole: str) -> str:
    """`kgs, 4 of 15 training years (missing …)` once, then without what is missing."""
    before, found, after = text.partition(whole)
    return before + found + after.replace(whole, whole.partition(" (")[0])


def prose(template: str, **values: object) -> Markup:
    """What a template in markdown says, as HTML: paragraphs, lists, **bold**, *slanted*, `code`; its `md` and `code`
    pass names on as they are, for here all is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined, autoescape=False
    )
    environment.filters |= {"md": _shown, "code": _shown}
    return marked(environment.get_template(template).render(**values))


def marked(text: str) -> Markup:
    """Paragraphs and lists of a text with the signs of markdown."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.split("\n")
        if all(line.startswith("- ") for line in lines):
            items = "".join(f"<li>{_inline(line[2:])}</li>" for line in lines)
            blocks.append(f"<ul>{items}</ul>")
        else:
            blocks.append(f"<p>{_inline(' '.join(lines))}</p>")
    return Markup("\n".join(blocks))


def _inline(text: str) -> str:
    """Between backquotes nothing else is a sign."""
    parts = re.split("`([^`]+)`", str(escape(printable(text, len(text)))))
    return "".join(f"<code>{part}</code>" if number % 2 else _slanted(part) for number, part in enumerate(parts))


def _slanted(safe: str) -> str:
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe))


def inline(text: str) -> Markup:
    """One sentence with the signs of markdown; what they were escaped with is taken off."""
    return Markup(_inline(re.sub(r"\\([\\`*_{}\[\]()#+!|~])", r"\1", unescape(text))))


def breakable(text: str) -> Markup:
    """A name that may go on in the next line after each of its words."""
    safe = str(escape(_shown(text)))
    return Markup(re.sub(r"(?<=\w)([_+,])(?=\w)", r"\1<wbr>", safe))


def inert_json(data: object) -> str:
    """JSON that ends no script element whatever its texts are; the same bytes for the same data."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def picture_address(name_to_bytes: dict[str, bytes]) -> str:
    """The smaller of a figure's files as an address that holds it."""
    name, content = min(name_to_bytes.items(), key=lambda each: (len(each[1]), each[0]))
    kind = "svg+xml" if name.endswith(".svg") else "png"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"inline": inline, "tone": tone, "sort_key": sort_key, "breakable": breakable}
    environment.filters["verdict_word"] = verdict_word
    return environment


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
