"""Effects that are means over other enhancements on and off: sentences on a factorial or a screen, tables of
interactions of two enhancements and of what a screen does not vary, and what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.arms import misfit
from ablations.registry import Registry
from ablations.request import seeds_text
from ablations.settings import command
from ablations.study import Study
from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis
from reports.results.group import MAIN, Pair
from reports.results.study_results import OF_RUNS, StudyResults
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row


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


def _is_clear(pair: Pair, study: Study) -> bool:
    """Whether an interaction is shown as a fixed effect."""
    return pair.effect.q is not None and pair.effect.q <= study.thresholds.alpha


def what_runs_say(
    results: StudyResults, nats: StudyAnalysis, pairs: Sequence[Pair], registry: Registry
) -> tuple[Said, ...]:
    """The question first, of a factorial or a screen, then interactions of the study's cards, then what to confirm;
    nothing where effects are no means over the others."""
    if not nats.is_mean:
        return ()
    study = results.study
    question = [_question(study, nats)] if study.design in OF_RUNS else []
    said = [*question, *_interactions(study, nats, pairs_of(study, pairs))]
    return (*map(Said, said), *(_next(study, nats, registry) if study.design == "screen" else ()))


def _question(study: Study, nats: StudyAnalysis) -> str:
    (every, own), base, screen = nats.runs, printable(study.base, 60), ""
    if study.design == "screen":
        more = ((study.held, "held"), (study.left_out, "left out"))
        counted = "".join(f", {len(cards)} {word}" for cards, word in more if cards)
        screen = f"A screen of {len(study.cards)} enhancements in {len(study.trials)} runs{counted}. "
    at_base = f", next to it the effect at {base} with all others as they are there" if nats.at_base else ""
    runs = f"{every} runs of {base}" + (f" under these conditions, {own} of them of this study" if own < every else "")
    return f"{screen}Each Δ is the mean effect over the other enhancements on and off{at_base}; of {runs}."


def _interactions(study: Study, nats: StudyAnalysis, pairs: Sequence[Pair]) -> list[str]:
    """Each that is shown as a fixed effect; of a factorial or a screen also how large they are, and the largest."""
    said = []
    for pair in pairs:
        if _is_clear(pair, study):
            alone = {at: formats.signed(value - pair.cells[False, False]) for at, value in pair.cells.items()}
            said.append(
                f"Shown: {_size(pair)}. {pair.one} without {pair.other} {alone[True, False]}, {pair.other} without "
                f"{pair.one} {alone[False, True]}, both together {alone[True, True]}."
            )
    if study.design in OF_RUNS and nats.noise is not None and nats.noise.pairs is None:
        return ["Interactions of two cannot be separated from the noise of a run by so few repeated runs."]
    if study.design not in OF_RUNS or not pairs or nats.noise is None:
        return said
    spread = f"Interactions of two have a standard deviation of {nats.noise.pairs:.4f} test nats"
    if _is_clear(pairs[0], study):
        return [f"{spread}.", *said]
    none = "" if said else "; none is shown as a fixed effect"
    return [f"{spread}{none}. The largest of {len(pairs)} predicted: {_size(pairs[0])}.", *said]


def _size(pair: Pair) -> str:
    fixed = formats.with_interval(pair.effect.delta, pair.effect.interval95)
    return (
        f"{pair.one} × {pair.other} {formats.signed(pair.predicted)} ± {pair.predicted_se:.4f} test nats, as a fixed "
        f"effect {fixed}, q {formats.q_value(pair.effect.q)}"
    )


def _next(study: Study, nats: StudyAnalysis, registry: Registry) -> list[Said]:
    """The command that confirms at the base what a screen shows, and what cannot be confirmed there."""
    shown = [card for card, verdict in nats.verdicts.items() if verdict.is_shown]
    if not shown:
        return [Said("No effect is shown, so none is to be confirmed at the base.")]
    fit, said = [], []
    for card in sorted(shown, key=lambda card: -abs(nats.effects[card].delta)):
        reason: str | None = "it is not declared here"
        if card in registry.cards and study.base in registry.bases:
            reason = misfit(registry, registry.cards[card], registry.base(study.base))
        if reason is None:
            fit.append(card)
        else:
            said.append(Said(f"{card} cannot be confirmed at {study.base}: {reason}."))
    if fit:
        said.append(Said("To confirm at the base what is shown, the largest first", confirm_command(study, fit)))
    return said


PRINTED = 10
"""So many interactions are on the page, the others folded."""
_CELLS = {
    "neither": ((False, False), "neither"),
    "only_one": ((True, False), "one alone"),
    "only_other": ((False, True), "other alone"),
    "both": ((True, True), "both"),
}
_PAIRS = (
    Column("one", "one", "left"),
    Column("other", "other", "left"),
    *(Column(key, title, show=formats.level) for key, (_, title) in _CELLS.items()),
    Column("predicted", "predicted test nats", parts=("predicted", "predicted_se")),
    Column("fixed", "as a fixed effect", parts=("fixed", *interval95("fixed"))),
    Column("p", "p", show=formats.p_value),
    Column("q", "q", under="p", show=formats.q_value),
    Column("verdict", "", "left"),
)
_CARDS = (Column("card", "enhancement", "left"), Column("place", "", "left"), Column("why", "because", "left"))
_NOTES = (
    "An interaction is what two enhancements do together beyond the sum of what each does by itself, over all others "
    "on and off. Those that the runs do not tell apart have equal numbers. The four means are with the predicted "
    "interaction.",
)


def printed_tables(results: StudyResults, pairs: Sequence[Pair]) -> tuple[Table, ...]:
    """Of a factorial or a screen: the largest interactions, and all that are shown."""
    shown = _shown_pairs(results, pairs)
    clear = [pair for pair in shown[PRINTED:] if _is_clear(pair, results.study)]
    return (_pairs_table(results, [*shown[:PRINTED], *clear], "interactions"),) if shown else ()


def folded_tables(results: StudyResults, pairs: Sequence[Pair]) -> tuple[Table, ...]:
    """All interactions where they are many, and what a screen does not vary in all arms."""
    shown, cards = _shown_pairs(results, pairs), _cards_table(results.study)
    tables = [_pairs_table(results, shown, "all-interactions")] if len(shown) > PRINTED else []
    return (*tables, cards) if results.study.design == "screen" and cards.rows else tuple(tables)


def _shown_pairs(results: StudyResults, pairs: Sequence[Pair]) -> list[Pair]:
    return pairs_of(results.study, pairs) if results.study.design in OF_RUNS else []


def _pairs_table(results: StudyResults, pairs: Sequence[Pair], name: str) -> Table:
    """A row per pair, the largest prediction first. Every run of the study counts for every number."""
    arms = results.study.arms
    trials = tuple(trial.id for arm in arms for trial in results.evaluated(arm.id, MAIN).values())
    rows = []
    for pair in pairs:
        fixed = pair.effect
        predicted = f"{formats.signed(pair.predicted)} ± {pair.predicted_se:.4f}"
        text = formats.with_interval(fixed.delta, fixed.interval95)
        values = {
            "one": pair.one,
            "other": pair.other,
            **{key: pair.cells[at] for key, (at, _) in _CELLS.items()},
            "predicted": Cell(predicted, [pair.predicted, pair.predicted_se], trials, MAIN),
            "fixed": Cell(text, fixed.with_ends, trials, MAIN),
            "p": fixed.p,
            "q": fixed.q,
            "verdict": "shown" if _is_clear(pair, results.study) else "not shown",
        }
        rows.append(make_row(_PAIRS, fixed.name, values, trials, MAIN))
    title = "Interactions of two enhancements" if name == "interactions" else "All interactions of two enhancements"
    return Table(name, title, _PAIRS, tuple(rows), _NOTES)


def _cards_table(study: Study) -> Table:
    """What is in all arms as it is, what was left out, and what is varied in a part of the arms only."""
    rows = []
    for contrast in study.contrasts:
        varied = len(contrast.with_it) + len(contrast.without)
        if varied < len(study.arms):
            place = f"varied in {varied} of {len(study.arms)} arms"
            rows.append((contrast.card, place, "cannot be changed together with another one"))
    rows += [(card, "held", why) for card, why in study.held.items()]
    rows += [(card, "left out", why) for card, why in study.left_out.items()]
    made = [make_row(_CARDS, row[0], dict(zip(("card", "place", "why"), row, strict=True))) for row in rows]
    return Table("screened", "Not varied, or not in all arms", _CARDS, tuple(made))


LOOKS = "4..16"
"""Seeds of a confirmation: a look at every four, until the effect is settled."""
_PLACE = ("DATA", "BUDGET", "PRECISION")


def study_settings(study: Study) -> dict[str, str]:
    """Name -> value of the settings that make a study; those at their defaults are left out, but not its place and
    seeds. For games in a folder of one's own, DATA is the study's name of the data set."""
    seeds = tuple(study.trials_of(study.arms[0].id))
    is_screen, looks = study.design == "screen", study.looks
    stated = {
        "NAME": ",".join(study.cards),
        "BASE": study.base,
        "DATA": study.data,
        "BUDGET": study.budget,
        "PRECISION": study.precision,
        "SAMPLES": str(study.samples) if study.samples is not None else None,
        "LR": study.lr,
        "DESIGN": study.design if study.design != "add-one" else None,
        "RUNS": str(len(study.trials)) if is_screen else None,
        "HOLD": ",".join(card for card, reason in study.held.items() if reason.startswith("HOLD")),
        "SEEDS": seeds_text(study.seeds, looks.seeds if looks else ()),
        "CONTROL_SEEDS": seeds_text(seeds) if not is_screen and len(seeds) > len(study.seeds) else None,
        "FUTILITY": f"{looks.futility:g}" if looks and looks.futility else None,
    }
    return {name: value for name, value in stated.items() if value}


def confirm_command(study: Study, cards: Sequence[str]) -> str:
    """Compares each card alone with the base, with seeds until it is settled."""
    settings = {
        name: value for name, value in study_settings(study).items() if name in (*_PLACE, "BASE", "SAMPLES", "LR")
    }
    return command("ablate", {**settings, "NAME": ",".join(cards), "SEEDS": LOOKS})


def study_command(study: Study) -> str:
    """The command that makes a study, and resumes it where trials are missing."""
    settings, control = study_settings(study), study.arms[0]
    if control.values and not study.cards and control.rate_found_by is None:
        changed = ["--set=" + path + "=" + value.strip('"') for path, value in control.values.items()]
        place = {name: value for name, value in settings.items() if name in (*_PLACE, "BASE")}
        return command("train", place, ("BASE",), [f"--seed={study.seeds[0]}", *changed])
    if not study.cards:
        return command("scale", settings, ("BASE",))
    if study.first_look:  # it precedes the study that the budget is for
        settings = {name: settings[name] for name in ("NAME", "BASE", *_PLACE, "LR", "DESIGN") if name in settings}
    return command("ablate", settings)
