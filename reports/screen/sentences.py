"""What has to be said of effects that are means over other enhancements on and off, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.arms import misfit
from ablations.registry import Registry
from ablations.study import Study
from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis, study_thresholds
from reports.results.group import Pair
from reports.results.study_results import StudyResults
from reports.screen.commands import confirm_command
from reports.stats.model import RunNoise
from reports.stats.verdicts import SHOWN
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
    """The question first, then the noise, then interactions of the study's cards, then what to confirm; nothing where
    effects are no means over the others."""
    if not nats.is_mean:
        return ()
    said = [_question(results, nats), *([noise_sentence(nats.noise)] if nats.noise else [])]
    said += _interactions(results, pairs_of(results.study, pairs))
    return (*map(Said, said), *(_next(results, nats, registry) if results.study.design == "screen" else ()))


def _question(results: StudyResults, nats: StudyAnalysis) -> str:
    study, (every, own), base = results.study, nats.runs, printable(results.study.base, 60)
    screen = ""
    if study.design == "screen":
        held = f", {len(study.held)} held" if study.held else ""
        left = f", {len(study.left_out)} left out" if study.left_out else ""
        screen = f"A screen of {len(study.cards)} enhancements in {len(study.trials)} runs{held}{left}. "
    runs = f"{every} runs of {base}" + (f" under these conditions, {own} of them of this study" if own < every else "")
    return (
        f"{screen}Each Δ is the mean effect over the other enhancements on and off, beside it the effect at {base} with "
        f"all others as they are there. Both are of {runs}."
    )


def noise_sentence(noise: RunNoise) -> str:
    """Standard deviations of a run, of interactions and of seeds."""
    others = {"interactions of two": noise.pairs, "seeds": noise.seeds}
    more = [f"of {name} {size:.4f}" for name, size in others.items() if size is not None]
    run = f"Standard deviation of a run {noise.run:.4f} test nats on {noise.df:.0f} degrees of freedom"
    return ", ".join([run, *more]) + "."


def _interactions(results: StudyResults, pairs: Sequence[Pair]) -> list[str]:
    """Of the largest, and of each that is clear as a fixed effect."""
    if not pairs:
        return []
    largest, alpha = pairs[0], study_thresholds(results.study).alpha
    clear = clear_pairs(pairs, alpha)
    said = [
        f"Largest of {len(pairs)} predicted interactions: {_size(largest)}." if largest not in clear else "",
        *(f"{_size(each)}: shown, {_means(each)}." for each in clear),
        "" if clear else "No interaction is shown as a fixed effect.",
    ]
    return [text for text in said if text]


def _size(pair: Pair) -> str:
    fixed = formats.with_interval(pair.effect.delta, pair.effect.interval95)
    return (
        f"{pair.one} × {pair.other} {formats.signed(pair.predicted)} ± {pair.predicted_se:.4f} test nats, as a fixed "
        f"effect {fixed}, q {formats.q_value(pair.effect.q)}"
    )


def _means(pair: Pair) -> str:
    """What each changes by itself, and both together."""
    changes = {at: formats.signed(value - pair.cells[False, False]) for at, value in pair.cells.items()}
    return (
        f"{pair.one} without {pair.other} {changes[True, False]}, {pair.other} without {pair.one} "
        f"{changes[False, True]}, both together {changes[True, True]}"
    )


def _next(results: StudyResults, nats: StudyAnalysis, registry: Registry) -> list[Said]:
    study = results.study
    shown = [card for card, verdict in nats.verdicts.items() if verdict in SHOWN]
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
