"""Learning rates in the report over everything."""

from reports.book.book import rates_section
from reports.search.report import search_report
from tests.orchestration.search_fakes import made_search
from tests.reports.search.test_report import six, tried


def test_a_line_a_search_and_a_figure_of_each_that_has_trials():
    done = search_report(made_search(trials=7), six(tried(6, 0.9, "diverged")))
    new = search_report(made_search(trials=8), [])
    section = rates_section([done, new])
    cells, empty = (row.cells for row in section.tables[0].rows)
    assert cells["rate"].value == done.rate and cells["trials"].text == "6, 0, 1 of 7"
    assert cells["interval"].value == [done.optimum.interval.low, done.optimum.interval.high]
    own = next(each.nats for each in done.tried if each.rate == done.search.own_rate)
    assert cells["gain"].value == done.optimum.nats - own
    assert empty["rate"].text == empty["nats"].text == "–" and empty["trials"].text == "0, 0, 0 of 8"
    (picture,) = section.pictures
    assert set(picture.files()) == {f"search-{done.search.id}.png", f"search-{done.search.id}.svg"}
