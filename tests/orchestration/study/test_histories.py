"""Which evaluations a study's trials get."""

from orchestration.study.plan import evaluation_requests
from tests.reports.made_studies import registry, registry_with


def test_studies_are_evaluated_in_the_histories_of_their_claims():
    class Prepared:
        views = {"test": type("View", (), {"n": 500, "digest": "a" * 20})()}

    def histories(*cards):
        requests = evaluation_requests(Prepared, registry().budget("smoke"), cards)
        return [(each.split, each.history) for each in requests]

    usual = [("test", "full"), ("test", "as_published")]
    made_up = registry_with(without={"history": "none"}, with_it={}).card("made_up")
    assert histories() == usual and histories(registry().card("parametric_relu")) == usual
    assert histories(made_up, made_up) == [*usual, ("test", "none")]
    only_games = registry_with(plays={"metric": "win_rate", "direction": "increase", "history": "none"}).card("made_up")
    assert histories(only_games) == usual
    Prepared.views = {}
    assert histories(made_up) == []
