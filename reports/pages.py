"""Pages in markdown from the templates beside this module."""

from pathlib import Path

import jinja2

from gonn_core.errors import markdown_escape, printable
from reports.tables.coverage import in_short
from reports.tables.markdown import markdown_table

TEMPLATES = Path(__file__).with_name("templates")


def page_text(template: str, **values: object) -> str:
    """The text of a page. Templates escape what they print with `md` (text), `code` (inside backquotes) and
    `markdown_table`; a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"md": markdown_escape, "markdown_table": markdown_table, "code": _code}
    environment.filters |= {"in_short": in_short}
    return environment.get_template(template).render(**values)


def _code(text: str) -> str:
    """Text inside backquotes: printable, without any of its own."""
    return printable(text).replace("`", "'")
