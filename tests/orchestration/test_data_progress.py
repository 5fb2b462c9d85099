"""What is shown while a store is built and while archives are downloaded."""

from gonn_core.records.build import Progress
from orchestration.data import OneBar, _progress

HALF = Progress("a\x1b.tar", 0, 2, 0.5, 1200, 250_000, 10.0)


def test_quick_work_says_nothing_and_what_is_done_is_a_line(capsys):
    with OneBar() as bar:
        bar.show("store", *_progress(HALF))
        (shown,) = bar.bars()
        assert shown.text == "a\\x1b.tar (1 of 2), 1,200 games, 250,000 positions, 50 %, 10 s left"
        assert capsys.readouterr() == ("", "")
        bar.show("KGS-2015.tar", 2_500_000, 2_500_000, "2.5 of 2.5 MB", is_note=True)
    assert capsys.readouterr() == ("", "KGS-2015.tar: 2.5 of 2.5 MB\n")
