"""What has to be said of effects that are means over other enhancements on and off, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.arms import misfit
from ablations.registry import Registry
from ablations.study import Study
from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis
from reports.results.group import Pair
from reports.results.study_results import OF_RUNS, StudyResults
from reports.screen.commands import confirm_command
from reports.tables import formats


@dataclass(frozen=True)
class Said:
    """A sentence, and perhaps the command that it ends with."""

    text: str
    command: str | None = None

    @property
    def plain(self) -> str:
        """Both in one line."""
        return f"{self.text}: {self.command}" if self.command else self.text


def pairs_of(study: Study, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of a group in which a study's enhancements are."""
    cards = {contrast.card for contrast in study.contrasts}
    return [pair for pair in pairs if {pair.one, pair.other} & cards]


def clear_pairs(pairs: Sequence[Pair], alpha: float) -> list[Pair]:
    """Those that are shown as fixed effects."""
    return [pair for pair in pairs if pair.effect.q is not None and pair.effect.q <= alpha]


def what_runs_say(
    results: StudyResults, nats: StudyAnalysis, pairs: Sequence[Pair], registry: Registry
) -> tuple[Said, ...]:
    """The question first, of a factorial or a screen, then interactions of the study's cards, then what to confirm;
    nothing where effects are no means over the others."""
    if not nats.is_mean:
        return ()
    question = [_question(results.study, nats)] if results.study.design in OF_RUNS else []
    said = [*question, *_interactions(results.study, nats, pairs_of(results.study, pairs))]
    return (*map(Said, said), *(_next(results.study, nats, registry) if results.study.design == "screen" else ()))


def _question(study: Study, nats: StudyAnalysis) -> str:
    (every, own), base, screen = nats.runs, printable(study.base, 60), ""
    if study.design == "screen":
        more = ((study.held, "held"), (study.left_out, "left out"))
        counted = "".join(f", {len(cards)} {word}" for cards, word in more if cards)
        screen = f"A screen of {len(study.cards)} enhancements in {len(study.trials)} runs{counted}. "
    beside = f", beside it the effect at {base} with all others as they are there" if nats.at_base else ""
    runs = f"{every} runs of {base}" + (f" under these conditions, {own} of them of this study" if own < every else "")
    return f"{screen}Each Δ is the mean effect over the other enhancements on and off{beside}; of {runs}."


def _interactions(study: Study, nats: StudyAnalysis, pairs: Sequence[Pair]) -> list[str]:
    """Each that is shown as a fixed effect; of a factorial or a screen also how large they are, and the largest."""
    clear = clear_pairs(pairs, study.thresholds.alpha)
    said = [f"Shown: {_size(each)}. {_means(each)}." for each in clear]
    if study.design in OF_RUNS and nats.noise is not None and nats.noise.pairs is None:
        return ["Interactions of two cannot be told from the noise of a run by so few repeated runs."]
    if study.design not in OF_RUNS or not pairs or nats.noise is None:
        return said
    spread = f"Interactions of two have a standard deviation of {nats.noise.pairs:.4f} test nats"
    if pairs[0] in clear:
        return [f"{spread}.", *said]
    none = "" if clear else "; none is shown as a fixed effect"
    return [f"{spread}{none}. The largest of {len(pairs)} predicted: {_size(pairs[0])}.", *said]


def _size(pair: Pair) -> str:
    fixed = formats.with_interval(pair.effect.delta, pair.effect.interval95)
    return (
        f"{pair.one} × {pair.other} {formats.signed(pair.predicted)} ± {pair.predicted_se:.4f} test nats, as a fixed "
        f"effect {fixed}, q {formats.q_value(pair.effect.q)}"
    )


def _means(pair: Pair) -> str:
    """What each changes by itself, and both together, with the predicted interaction."""
    changes = {at: formats.signed(value - pair.cells[False, False]) for at, value in pair.cells.items()}
    return (
        f"{pair.one} without {pair.other} {changes[True, False]}, {pair.other} without {pair.one} "
        f"{changes[False, True]}, both together {changes[True, True]}"
    )


def _next(study: Study, nats: StudyAnalysis, registry: Registry) -> list[Said]:
    shown = [card for card, verdict in nats.verdicts.items() if verdict.is_shown]
    cards = sorted(shown, key=lambda card: -abs(nats.effects[card].delta))
    if not cards:
        return [Said("No effect is shown, so none is to be confirmed at the base.")]
    reasons = {card: _unfit(registry, card, study.base) for card in cards}
    fit = [card for card in cards if reasons[card] is None]
    said = [Said(f"{card} cannot be confirmed at {study.base}: {reasons[card]}.") for card in cards if reasons[card]]
    if fit:
        said.append(Said("To confirm at the base what is shown, the largest first", confirm_command(study, fit)))
    return said


def _unfit(registry: Registry, card: str, base: str) -> str | None:
    if card not in registry.cards or base not in registry.bases:
        return "it is not declared here"
    return misfit(registry, registry.cards[card], registry.base(base))
