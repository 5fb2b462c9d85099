"""Tables as LaTeX: booktabs, caption, notes in print; every character of a name escaped."""

import math
import re
from collections.abc import Sequence

from gonn_core.errors import printable
from reports.tables.cells import Column, Table

PACKAGES = r"% needs \usepackage{array,booktabs,longtable}"
LINE = 110
"""Characters of a footnote's size beside each other on a page."""
GAP = 3
"""Characters that the room between two columns takes."""
NUMBER = 30
"""Characters of a number with its interval, which is not broken."""
LEAST = 12
"""Characters that a column of words has room for."""
PAGE = 45
"""Lines of a table that a page holds, with its caption and notes."""
_RAGGED = {"left": r"\raggedright", "right": r"\raggedleft"}
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
    """A `table`, or a `longtable` of what is longer than a page: its title as caption, its notes printed below it,
    without the columns of a wide page."""
    columns = table.shown(brief=True)
    titles, body = [column.title for column in columns], [[cell.text for cell in row] for row in table.body(brief=True)]
    widths = _widths(columns, [max(map(len, texts)) for texts in zip(titles, *body, strict=True)])
    kinds = [
        column.align[0] if width is None else rf">{{{_RAGGED[column.align]}\arraybackslash}}p{{{width:.2f}\linewidth}}"
        for column, width in zip(columns, widths, strict=True)
    ]
    heading = [rf"\caption{{{latex_text(table.title)}}}\label{{tab:{table.name}}}"]
    head = [r"\toprule", _line(titles, widths), r"\midrule"]
    rows = [*(_line(texts, widths) for texts in body), r"\bottomrule"]
    notes = "\\par\n".join(latex_text(note) for note in table.notes)
    if _lines(body, widths) > PAGE:
        begin, end = rf"\begin{{longtable}}{{{''.join(kinds)}}}", r"\end{longtable}"
        lines = [
            r"\begingroup\footnotesize",
            begin,
            *heading,
            r"\\",
            *head,
            r"\endhead",
            *rows,
            end,
            notes,
            r"\endgroup",
        ]
    else:
        begin, end = rf"\begin{{tabular}}{{{''.join(kinds)}}}", r"\end{tabular}"
        below = [r"\par\smallskip", rf"\begin{{minipage}}{{\linewidth}}\raggedright {notes}\end{{minipage}}"]
        lines = [r"\begin{table}\centering\footnotesize", *heading, begin, *head, *rows, end]
        lines += [*(below if notes else []), r"\end{table}"]
    return "\n".join([PACKAGES, *filter(None, lines)]) + "\n"


def _line(texts: Sequence[str], widths: Sequence[float | None]) -> str:
    """One row; in a paragraph a name may be broken at its signs."""
    cells = [latex_text(text) for text in texts]
    broken = [re.sub(r"(\\_|[+=/])", r"\1\\allowbreak{}", text) for text in cells]
    return (
        " & ".join(text if width is None else many for text, many, width in zip(cells, broken, widths, strict=True))
        + r" \\"
    )


def _widths(columns: Sequence[Column], longest: Sequence[int]) -> list[float | None]:
    """Of each column, by the characters of its longest text: None for its own, where all have room beside each other;
    else words that would take more than an even share of a line get that share, set as paragraphs, and so do numbers
    where nothing else helps."""
    whole = {index for index in range(len(longest)) if columns[index].align == "right" and longest[index] <= NUMBER}
    room = LINE - sum(longest[index] + GAP for index in whole)
    wide = set(range(len(longest))) - whole
    if room < LEAST * len(wide):
        room, wide = LINE, set(range(len(longest)))
    while narrow := {index for index in wide if (longest[index] + GAP) * len(wide) <= room}:
        room -= sum(longest[index] + GAP for index in narrow)
        wide -= narrow
    return [(room / len(wide) - GAP) / LINE if index in wide else None for index in range(len(longest))]


def _lines(body: Sequence[Sequence[str]], widths: Sequence[float | None]) -> int:
    """That the rows take on paper, roughly."""
    return sum(
        max(
            1 if width is None else math.ceil(len(text) / (width * LINE))
            for text, width in zip(row, widths, strict=True)
        )
        for row in body
    )
