"""Notes next to the tables of a study: runs, noise, q, data, interim analyses, machines, cost, unfinished trials."""

from collections import Counter
from collections.abc import Mapping

from ablations.study import Study
from gonn_core.errors import printable
from gonn_core.training.compiling import device_label
from reports.results.compare import StudyAnalysis
from reports.results.costs import FLOPS_COUNTED, speed_note
from reports.results.decisions import is_sequential
from reports.results.group import MAIN
from reports.results.speed_and_looks import look_counts_text
from reports.results.study_results import UNRECORDED, Look, StudyResults
from reports.stats.looks import planned_level
from reports.stats.verdicts import EffectVerdict
from reports.study.tables import describe
from reports.tables import formats
from reports.tables.formats import in_short


def looks_notes(results: StudyResults) -> list[str]:
    """Beside the tables, of a study with looks."""
    plan = looks_line(results.study)
    if plan is None:
        return []
    early = "; intervals are not widened for looks, and an effect that is shown early seems somewhat larger than it is"
    lines = [plan + early * is_sequential(results.study), *map(decided, results.looks)]
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


def looks_line(study: Study) -> str | None:
    """`looks at 4, 8 and 12 seeds: …`, None of a study without."""
    looks = study.looks
    if looks is None:
        return None
    each = [f"{seeds}{' (taken before)' * (place < looks.spent)}" for place, seeds in enumerate(looks.seeds)]
    alpha, arm = study.thresholds.alpha, ", and its arm stops," * is_sequential(study)
    line = (
        f"looks at {', '.join(each[:-1])} and {each[-1]} seeds: an effect is shown{arm} where its q is at most "
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


APART = "0.005 to 0.026"
"""Nats between ends of the same trial on two kinds of processor, as seen: as between seeds."""


def machine_notes(results: StudyResults) -> list[str]:
    """Nothing where all trials come from one kind of machine, or none tells of which."""
    kinds = Counter(" and ".join(trial.machines) for trial in results.trials if trial.machines)
    if len(kinds) < 2 and not any(" and " in kind for kind in kinds):
        return []
    told = ", ".join(
        f"{printable(kind, 200)} ({count} trial{'s' * (count != 1)})" for kind, count in sorted(kinds.items())
    )
    known = {machine for trial in results.trials for machine in trial.machines}
    many = f"{len(known)} kinds of machine" + (", as far as is known" if UNRECORDED in known else "")
    return [
        f"Trials of this study come from {many}: {told}. A trial's id says what is computed, not its bits: on another "
        f"processor the same id may end {APART} nats apart, as another seed would."
    ]


def trained_on(results: StudyResults) -> str:
    """Devices, threads, PyTorch and commits; empty while nothing was trained."""
    sessions = [trial.session for trial in results.trials if trial.session]
    if not sessions:
        return ""
    threads = sorted({f"{_device(s)} ({s['threads']} thread{'s' * (s['threads'] != 1)})" for s in sessions})
    torch = sorted({s["versions"]["torch"] for s in sessions})
    commits = sorted({s["commit"][:12] + (" with uncommitted changes" if s["dirty"] else "") for s in sessions})
    return f"Trained on {', '.join(threads)}; PyTorch {', '.join(torch)}; commit {', '.join(commits)}."


def _device(session: Mapping) -> str:
    return device_label(session["device"], str(session.get("compile", "none")))


def table_notes(results: StudyResults, nats: StudyAnalysis) -> tuple[str, ...]:
    """Sentences below the tables of a study, the most important first."""
    study = results.study
    notes = [
        *unfinished_notes(results),
        *_first_look(results),
        *_effects(results, nats),
        f"Data: {in_short(study.coverage)}. Evaluated on: {describe(study.evaluations[MAIN])}.",
        *_readings(results),
        *looks_notes(results),
        "" if study.looks else look_counts_text(results.look_counts),  # those have their own, and pay for them
        speed_note(results),
        FLOPS_COUNTED,
        *machine_notes(results),
        trained_on(results),
    ]
    return tuple(note for note in notes if note)


def _first_look(results: StudyResults) -> list[str]:
    """What a first look is, on its own page."""
    study = results.study
    if not study.first_look:
        return []
    samples = study.arms[0].config.training.samples
    return [
        f"A first look: {samples:,} samples a trial and {len(study.seeds)} seeds, judged on fewer games than the study "
        f"of the {study.budget_label} budget that it comes before. Effects change with the number of samples; this one "
        "stands in no table beside others."
    ]


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


def _readings(results: StudyResults) -> list[str]:
    """How policies are read, where it is not as usual."""
    wanted = {
        "symmetry_averaging": (
            "averaged over the 8 symmetries of a position (eight forward passes; FLOPs and samples/s are those of "
            "training)"
        ),
        "legal_only": "over legal points alone (empty ones but the ko point)",
    }
    notes, arms = [], results.study.arms
    for name, reading in wanted.items():
        having = [printable(arm.label, 60) for arm in arms if getattr(arm.config.evaluation, name)]
        if having:
            where = "in all arms" if len(having) == len(arms) else ", ".join(having)
            notes.append(f"Policies are evaluated {reading}: {where}. Curves are of policies as they are.")
    return notes


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
        others = {"interactions of two": noise.pairs, "seeds": noise.seeds}
        sizes = {name: size for name, size in others.items() if size is not None}
        known = [f"of {name} {size:.4f}" if size >= 5e-5 else f"of {name} ≈ 0" for name, size in sizes.items()]
        run = f"Standard deviation of a run {noise.run:.4f} test nats on {noise.df:.0f} degrees of freedom"
        notes.append(f"{', '.join([run, *known])}.")
        notes += [f"Runs with another {printable(str(each), 80)} are noisier than others." for each in noise.noisier]
    if judged := sum(effect.q is not None for effect in nats.effects.values()):
        notes.append(
            f"q is the false discovery rate over the {judged} effect{'s' * (judged != 1)} of this table: of those "
            f"called helps or hurts (q at most {100 * alpha:g} %), at most one in {1 / alpha:.0f} is expected to be "
            "null or of the other sign."
        )
    left_out = [f"{printable(card, 80)} ({reason})" for card, reason in nats.left_out.items()]
    return [*notes, *([f"Not estimated: {', '.join(left_out)}."] if left_out else [])]
