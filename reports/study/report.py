"""What a study's report says, as plain data: sentences, notes, statistics, claims. `reports.study.tables` makes its
tables, `reports.study.render` writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from ablations.registry import Registry
from ablations.study import Arm, Contrast, Study
from gonn_core.errors import SettingError, printable
from gonn_core.metrics import METRICS, SUMMARISED
from gonn_core.training.compiling import device_label
from reports.claims.findings import ClaimFinding, find_claims
from reports.claims.measures import claim_evaluation
from reports.results.compare import StudyAnalysis, analyse_study, own_runs, used_trials
from reports.results.decisions import is_sequential
from reports.results.group import MAIN, Group, Pair, own_group
from reports.results.nets import FLOPS_COUNTED, speed_note
from reports.results.study_results import Look, StudyResults
from reports.screen.interactions import Said, what_runs_say
from reports.stats.looks import planned_level
from reports.stats.verdicts import EffectVerdict
from reports.tables import formats
from reports.tables.formats import describe, in_short, verdict_text
from reports.worth.curve import ControlCurve
from reports.worth.effects import Worth, study_worths, worth_note


@dataclass(frozen=True)
class Report:
    """A study's report. `group`: the runs that its effects are estimated from; `analyses`: (evaluation, metric) ->
    statistics; `worths`: card -> worth of its effect on the loss, of those whose control has a curve over samples."""

    results: StudyResults
    group: Group
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    findings: tuple[ClaimFinding, ...]
    worths: Mapping[str, Worth] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    """Interactions of every two cards of the group on the loss, the largest prediction first."""
    said: tuple[Said, ...] = ()
    """What is said of a design of many cards at once, and of what to do next."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def nats(self) -> StudyAnalysis:
        """Effects on the loss on the main evaluation."""
        return self.analyses[MAIN, "nats"]

    @property
    def verdicts(self) -> Mapping[str, EffectVerdict]:
        """Card -> verdict on its effect on the loss, of those that have results."""
        return self.nats.verdicts


def make_report(
    results: StudyResults, registry: Registry, group: Group | None = None, curve: ControlCurve | None = None
) -> Report:
    """Analyse a study. `group`: all runs of its base, None: its own alone; `curve`: the control's
    loss over samples.

    Raises SettingError for a study without evaluations.
    """
    study = results.study
    if not study.evaluations:
        raise SettingError("STUDY", study.id, "has no evaluation: nothing to report")
    group = group or own_group(results)
    analyses = study_analyses(results, registry, group)
    nats = analyses[MAIN, "nats"]
    worths = study_worths(results, nats, curve)
    pairs = () if results.unjudged else group.pairs(study.evaluations[MAIN], study.thresholds)
    return Report(
        results=results,
        group=group,
        sentences=tuple(_sentence(results, nats, contrast) for contrast in study.contrasts)
        or tuple(_level_sentence(results, arm) for arm in study.arms),
        notes=(*table_notes(results, nats), *filter(None, [worth_note(results, curve, worths)])),
        analyses=analyses,
        findings=find_claims(results, registry, analyses),
        worths=worths,
        pairs=pairs,
        said=what_runs_say(results, nats, pairs, registry),
    )


def study_analyses(
    results: StudyResults, registry: Registry, group: Group | None = None
) -> dict[tuple[int, str], StudyAnalysis]:
    """(evaluation, metric) -> statistics: of the tables' metrics on every evaluation, of others where claims of the
    study's cards are about them."""
    study, group = results.study, group or own_group(results)
    claims = [claim for card in study.cards if card in registry.cards for claim in registry.card(card).claims]
    judged = [claim for claim in claims if METRICS[claim.metric].source in ("positions", "curve", "gap")]
    claimed = {(claim_evaluation(study, claim), claim.metric) for claim in judged}
    numbers = range(len(study.evaluations))
    wanted = [(number, metric) for number in numbers for metric in SUMMARISED]
    wanted += [each for each in product(numbers, METRICS) if each in claimed and each not in wanted]
    return {(number, metric): analyse_study(results, metric, number, group) for number, metric in wanted}


def _level_sentence(results: StudyResults, arm: Arm) -> str:
    """`gonn-b5: 2.5310 test nats (sd of seeds 0.0127) at 100k samples (4 seeds, …)`, where nothing is compared."""
    measured, evaluation = results.arm_result(arm.id, MAIN, "nats"), results.study.evaluations[MAIN]
    if measured is None:
        return f"{arm.label}: no result yet"
    means, planned = measured.means, results.due_seeds(arm.id)
    spread = f" (sd of seeds {means.std(ddof=1):.4f})" if len(means) > 1 else ""
    return (
        f"{arm.label}: {formats.level(float(means.mean()))} {evaluation.split} nats{spread} at "
        f"{formats.samples(arm.config.training.samples)} samples ({formats.seed_count(len(means), planned)} "
        f"seed{'s' * (planned != 1)}, {evaluation.size_text})"
    )


def _sentence(results: StudyResults, nats: StudyAnalysis, contrast: Contrast) -> str:
    """`last_move_input: Δ −0.4432 test nats [−0.4601, −0.4263], helps (q 0.0002) (4 seeds, 20,112 positions of 101
    games)`."""
    card = contrast.card
    effect, verdict = nats.effect(card), nats.verdict(card)
    if effect is None or verdict is None:
        return f"{card}: no result yet ({nats.left_out[card]})"
    evaluation, text = results.study.evaluations[MAIN], verdict_text(verdict, effect)
    ends = f" {formats.interval(effect.interval95)}" if effect.interval95 else ", no interval"
    in_arms = results.study.design in NAMED and not effect.is_mean
    named = f" (against {against(results.study, contrast)})" if in_arms else ""
    return (
        f"{card}{named}: Δ {formats.signed(effect.delta)} {evaluation.split} nats{ends}, {text} "
        f"({_runs_words(results, nats, contrast)}, {evaluation.size_text})"
    )


def _runs_words(results: StudyResults, nats: StudyAnalysis, contrast: Contrast) -> str:
    """`4 seeds`; `4 seeds, decided at look 1 of 4`; `27 runs with it and 44 without, 32 of them of this study`."""
    effect, look = nats.effects[contrast.card], look_words(results, contrast.card)
    own = own_runs(results.study, used_trials(results, contrast, MAIN), effect)
    words = f"{effect.runs[0]} runs with it and {effect.runs[1]} without"
    if own not in (None, sum(effect.runs)):
        words += f", {own} of them of this study"
    elif effect.runs[0] == effect.runs[1] and not effect.is_mean:
        planned = results.due_seeds(*contrast.with_it, *contrast.without)
        words = f"{formats.seed_count(effect.n, planned)} seed{'s' * (planned != 1)}"
    return f"{words}, {look}" if look else words


NAMED = ("leave-one-out", "cumulative")
"""Designs in which every effect is measured against a net of its own, which tables name."""
_READINGS = {
    "symmetry_averaging": "averaged over the 8 symmetries of a position (eight forward passes)",
    "legal_only": "over legal points alone (empty ones but the ko point)",
}


def table_notes(results: StudyResults, nats: StudyAnalysis) -> tuple[str, ...]:
    """Sentences below the tables of a study, the most important first."""
    study = results.study
    notes = [
        *unfinished_notes(results),
        *_first_look(study),
        *_effects(results, nats),
        f"Data: {in_short(study.coverage)}. Evaluated on: {describe(study.evaluations[MAIN])}.",
        *_readings(study),
        *looks_notes(results),
        "" if study.looks else _look_counts(results),  # planned looks have a note of their own, and pay for them
        speed_note(results),
        FLOPS_COUNTED,
        _trained_on(results),
    ]
    return tuple(note for note in notes if note)


def warnings(results: StudyResults) -> list[str]:
    """What to know before any number: that none is a result, that trials are missing."""
    found = []
    if not results.study.results:
        found.append(
            f"Not a result: the {results.study.budget_label} budget only checks that everything runs. Its numbers mean "
            "nothing and none is judged."
        )
    if results.unfinished:
        later = " Verdicts are given when all are." if results.unjudged is EffectVerdict.UNFINISHED else ""
        done = f"{results.finished} of {len(results.trials)} trials are done and evaluated"
        found.append(f"Unfinished: {done}; effects use all runs that there are.{later}")
    return found


def unfinished_notes(results: StudyResults) -> list[str]:
    """`warnings`; then which trials are not finished, and why those that failed did."""
    notes = warnings(results)
    for trial in results.unfinished:
        state: str = "not started" if trial.state == "new" else trial.state
        if trial.result:
            state = "done, not evaluated yet"
        reason = f": {printable(trial.failure, 400)}" if trial.failure else ""
        notes.append(f"{printable(trial.arm, 60)}, seed {trial.seed} ({trial.id}): {state}{reason}.")
    return notes


def _first_look(study: Study) -> list[str]:
    if not study.first_look:
        return []
    return [
        f"A first look: {study.arms[0].config.training.samples:,} samples a trial and {len(study.seeds)} seeds, judged "
        f"on fewer games than the study of the {study.budget_label} budget that it precedes. Effects change with the "
        "number of samples; this one is in no table of several studies."
    ]


def _effects(results: StudyResults, nats: StudyAnalysis) -> list[str]:
    """Which runs effects are estimated from, their noise, what q promises, and which have none."""
    if not results.study.contrasts:
        return []
    (every, own), base = nats.runs, printable(results.study.base, 60)
    whose = f", {own} of them of this study" if own < every else ", all of this study"
    kind = "by a mixed model with a random interaction of every two" if nats.is_mean else "as differences of two arms"
    alpha = results.study.thresholds.alpha
    notes = [
        f"Effects are estimated from {every} run{'s' * (every != 1)} of {base} under these conditions{whose}, {kind}."
    ]
    if (noise := nats.noise) is not None:
        sizes = {"interactions of two": noise.pairs, "seeds": noise.seeds}
        known = [
            f"of {name} {size:.4f}" if size >= 5e-5 else f"of {name} ≈ 0"
            for name, size in sizes.items()
            if size is not None
        ]
        run = f"Standard deviation of a run {noise.run:.4f} test nats on {noise.df:.0f} degrees of freedom"
        notes.append(f"{', '.join([run, *known])}.")
        notes += [printable(each, 160) for each in noise.notes]
    if judged := sum(effect.q is not None for effect in nats.effects.values()):
        notes.append(
            f"q is the false discovery rate over the {judged} effect{'s' * (judged != 1)} of this table: of those "
            f"called helps or hurts (q at most {100 * alpha:g} %), at most one in {1 / alpha:.0f} is expected to be "
            "null or of the other sign."
        )
    left_out = [f"{printable(card, 80)} ({reason})" for card, reason in nats.left_out.items()]
    return [*notes, *([f"Not estimated: {', '.join(left_out)}."] if left_out else [])]


def against(study: Study, contrast: Contrast) -> str:
    """The net that lacks this enhancement alone: `gonn-b5 with none`, `+ chain_pooling`, `without chain_pooling`."""
    return ", ".join(study.arm(arm).label for arm in contrast.without)


def against_note(study: Study, analysis: StudyAnalysis) -> str:
    """What each Δ of a study is against, by its design; empty for a study without comparisons."""
    if not study.contrasts:
        return ""
    base = printable(study.base, 60)
    if analysis.is_mean:
        alone = [printable(card, 60) for card, effect in analysis.effects.items() if not effect.is_mean]
        but = f"; of {', '.join(alone)} that at the base, as no runs combine it with others" if alone else ""
        at_base = f" At the base: the effect with all else as in {base}; it has no verdict." if analysis.at_base else ""
        return f"Each Δ is the mean effect over the other enhancements on and off{but}.{at_base}"
    if study.design == "leave-one-out":
        return f"Each Δ is {base} with all {len(study.contrasts)} enhancements minus the same net without that one."
    if study.design == "cumulative":
        steps = [
            f"{printable(each.card, 60)} against {printable(against(study, each), 200)}" for each in study.contrasts
        ]
        return f"Each Δ is one step: a net with one enhancement more minus the net before it ({'; '.join(steps)})."
    return f"Each Δ is {base} with the enhancement minus {base} without it, all else as in {base}."


def _readings(study: Study) -> list[str]:
    """How policies are read, where it is not as usual."""
    notes = []
    for name, reading in _READINGS.items():
        having = [printable(arm.label, 60) for arm in study.arms if getattr(arm.config.evaluation, name)]
        if having:
            where = "in all arms" if len(having) == len(study.arms) else ", ".join(having)
            notes.append(f"Policies are evaluated {reading}: {where}. Curves are of policies as they are.")
    return notes


def _look_counts(results: StudyResults) -> str:
    """How often test results were shown, by command. No alpha is spent on it: the reader has to weigh that each look at
    unfinished results that may decide on more seeds raises the chance of a false verdict."""
    total = sum(results.look_counts.values())
    if total <= 1:
        return f"Looks at the test results: {total}."
    parts = ", ".join(f"{name} {count}" for name, count in results.look_counts.items())
    return (
        f"Looks at the test results: {total} ({parts}); intervals and p values are not corrected for having looked "
        "before."
    )


def looks_notes(results: StudyResults) -> list[str]:
    """Of a study with looks: the plan, and what each look decided."""
    plan = looks_line(results.study)
    if plan is None:
        return []
    early = "; intervals are not widened for looks, and an effect that is shown early seems somewhat larger than it is"
    lines = [plan + early * is_sequential(results.study), *map(decided, results.looks)]
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


def looks_line(study: Study) -> str | None:
    """`looks at 4, 8 and 12 seeds: …`, None for a study without looks."""
    looks = study.looks
    if looks is None:
        return None
    seeds = [f"{seeds}{' (taken before)' * (place < looks.spent)}" for place, seeds in enumerate(looks.seeds)]
    alpha, arm = study.thresholds.alpha, ", and its arm stops," * is_sequential(study)
    line = (
        f"looks at {', '.join(seeds[:-1])} and {seeds[-1]} seeds: an effect is shown{arm} where its q is at most "
        f"{alpha:g} (p below {formats.p_value(planned_level(looks.seeds, alpha))} at any look, for a single effect)"
    )
    if looks.futility:
        line += f"; its arm also stops where its 90 % interval lies within ±{looks.futility:g} nats"
    return line


def decided(look: Look) -> str:
    """`look at 4 seeds: ladder_input shown (q 0.01), …`."""
    cards = (f"{card} {each.decision} (q {formats.q_value(each.q)})" for card, each in look.cards.items())
    return f"look at {look.seeds} seeds: {', '.join(cards)}"


def look_words(results: StudyResults, card: str) -> str | None:
    """`decided at look 1 of 4`, of a card of a study whose arms may stop."""
    looks, taken = results.study.looks, [look for look in results.looks if card in look.cards]
    if looks is None or not taken:
        return None
    ended = "decided" if taken[-1].cards[card].ends else "so far"
    return f"{ended} at look {looks.seeds.index(taken[-1].seeds) + 1} of {len(looks.seeds)}"


def _trained_on(results: StudyResults) -> str:
    """Devices, threads, PyTorch and commits, and kinds of machine where they differ; empty while nothing was
    trained."""
    sessions = [trial.session for trial in results.trials if trial.session]
    if not sessions:
        return ""
    devices = {(device_label(s["device"], str(s.get("compile", "none"))), s["threads"]) for s in sessions}
    threads = [f"{device} ({count} thread{'s' * (count != 1)})" for device, count in sorted(devices)]
    torch = sorted({s["versions"]["torch"] for s in sessions})
    commits = sorted({s["commit"][:12] + (" with uncommitted changes" if s["dirty"] else "") for s in sessions})
    kinds = sorted({printable(machine, 200) for trial in results.trials for machine in trial.machines})
    several = f" On {len(kinds)} kinds of machine, on which one trial ends as apart as with another seed: "
    machines = several + "; ".join(kinds) + "." if len(kinds) > 1 else ""
    return f"Trained on {', '.join(threads)}; PyTorch {', '.join(torch)}; commit {', '.join(commits)}.{machines}"
