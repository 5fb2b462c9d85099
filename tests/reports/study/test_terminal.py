"""What a study's report shows on a terminal."""

from reports.claims.verdicts import ClaimVerdict
from reports.study.terminal import answered_claims
from reports.tables.cells import Cell, Column, Table, make_row

COLUMNS = (Column("claim", "claim"), Column("verdict", "verdict"))


def claims(*verdicts: str) -> Table:
    rows = [
        make_row(COLUMNS, str(number), {"verdict": Cell(verdict, ClaimVerdict(verdict))})
        for number, verdict in enumerate(verdicts)
    ]
    return Table("claims", "Claims of the documents", COLUMNS, tuple(rows), ("a note on the rows",))


def test_claims_that_nothing_can_be_said_of_are_counted_in_a_line():
    found = answered_claims(claims(*["not tested here"] * 7, "replicated", "count agrees", *["not measured yet"] * 2))
    assert [row.cells["verdict"].text for row in found.rows] == ["replicated", "count agrees"]
    assert found.notes[0] == "a note on the rows" and "full size" in found.notes[1]
    assert found.notes[-1].startswith("Further claims: 7 not tested here, 2 not measured yet;")
    none = answered_claims(claims("not tested here"))
    assert not none.rows and [note.partition(";")[0] for note in none.notes] == ["Claims: 1 not tested here"]
