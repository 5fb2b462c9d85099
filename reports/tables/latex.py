"""Tables as LaTeX: a plain `tabular` that needs no package, every character of a name escaped."""

from gonn_core.errors import printable
from reports.tables.cells import Table

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "→": r"$\to$",
    "≈": r"$\approx$",
    "Δ": r"$\Delta$",
    "–": "--",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "✓": r"$\surd$",
    "\u00a0": "~",
}


def latex_text(text: str) -> str:
    """Printable text in which LaTeX finds no command; other letters beyond ASCII stay as they are (UTF-8 is its
    default)."""
    return "".join(_ESCAPED.get(sign, sign) for sign in printable(text, 4000))


def latex_table(table: Table) -> str:
    """One `tabular`, without the columns of a wide page; the title above it as a comment and the notes below it as
    comments."""
    columns = table.shown(brief=True)
    rows = [[column.title for column in columns], *([cell.text for cell in row] for row in table.body(brief=True))]
    head, *body = (" & ".join(latex_text(text) for text in row) + r" \\" for row in rows)
    lines = [
        f"% {printable(table.title, 400)}",
        rf"\begin{{tabular}}{{{''.join(column.align[0] for column in columns)}}}",
    ]
    lines += [r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {printable(note, 4000)}" for note in table.notes)]) + "\n"
