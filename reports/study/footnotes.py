"""What has to be said beside the tables: data, pairing, pooled noise, margins, looks, cost, unfinished trials."""

import math

from gonn_core.errors import printable
from reports.results.compare import OF_RUNS, StudyAnalysis, study_thresholds
from reports.results.costs import FLOPS_COUNTED, speed_note
from reports.results.group import MAIN
from reports.results.seed_pool import PriorNoise
from reports.results.speed_and_looks import look_counts_text
from reports.results.study_results import StudyResults
from reports.screen.sentences import noise_sentence
from reports.stats.seed_noise import SeedPool, pool_seed_noise
from reports.stats.verdicts import GONE, EffectVerdict
from reports.study.looks import looks_notes
from reports.study.machines import machine_notes, trained_on
from reports.study.tables import describe
from reports.tables import formats
from reports.tables.coverage import in_short

_PAIRED = "paired effects use the seeds that both sides have"


def table_notes(results: StudyResults, nats: StudyAnalysis, prior: PriorNoise | None) -> tuple[str, ...]:
    """Sentences below the tables of a study, the most important first."""
    study = results.study
    notes = [
        *unfinished_notes(results),
        *_first_look(results),
        f"Data: {in_short(study.coverage)}. Evaluated on: {describe(study.evaluations[MAIN])}.",
        *_readings(results),
        *_pairing(results, nats),
        *(_pool(nats) if nats.table is None or nats.table.noise is None else [noise_sentence(nats.table.noise)]),
        *_earlier(nats, prior),
        *_rules(results),
        *_margins(results, nats),
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
        used = "effects use all runs that there are" if results.study.design in OF_RUNS else _PAIRED
        later = " Verdicts are given when all are." if results.unjudged is EffectVerdict.UNFINISHED else ""
        done = f"{results.finished} of {len(results.trials)} trials are done and evaluated"
        found.append(f"Unfinished: {done}; {used}.{later}")
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


def _pairing(results: StudyResults, nats: StudyAnalysis) -> list[str]:
    if results.study.pairing == "none" and results.study.design in OF_RUNS:
        return [
            "The arms are not paired: they do not see the same positions in the same order, so seeds have no level."
        ]
    if results.study.pairing == "none":
        return [
            "The arms are not paired: they do not see the same positions in the same order, so every arm counts with "
            "its own variance."
        ]
    if nats.table is None:
        return []
    if results.study.design in OF_RUNS:
        return ["Runs of one seed see the same positions and start alike: a level for each seed is taken off."]
    correlation = nats.table.correlation
    if correlation is None or max(effect.n for effect in nats.table.effects.values()) < 3:  # of two it is 1 or −1
        return ["Arms are paired by seed; the correlation within pairs cannot be told from so few seeds."]
    text = formats.minus(f"{correlation:.2f}")
    return [
        f"Arms are paired by seed: correlation within pairs {text} over seeds (0: pairing gains nothing, 1: it removes "
        "all seed noise)."
    ]


def _pool(nats: StudyAnalysis) -> list[str]:
    notes = []
    pool = nats.table.pool if nats.table else None
    if pool is not None:
        members = ", ".join(printable(member, 80) for member in pool.members)
        text = f"Seed noise: standard deviation {math.sqrt(pool.variance):.4f} test nats of a difference at one seed"
        notes.append(f"{text}, on {pool.df:.1f} degrees of freedom, pooled over {members}.")
        notes += [
            f"{printable(name, 80)} is analysed with its own seed noise: {reason}." for name, reason in pool.own.items()
        ]
    elif nats.table is not None:
        notes.append("No seed noise could be pooled.")
    return notes


def _earlier(nats: StudyAnalysis, prior: PriorNoise | None) -> list[str]:
    notes, pool = [], nats.table.pool if nats.table else None
    if prior is not None and prior.studies:
        notes.append(
            f"The pool holds earlier studies of the same base, budget and test games: {', '.join(prior.studies)}."
        )
    if prior is not None and prior.today is not None and nats.table is not None:
        known = {*pool.members, *pool.own} if pool else set()  # of a design that counts runs the pool has not its own
        own = {name: each for name, each in nats.table.differences.items() if name in known}
        notes += _moved(pool, pool_seed_noise({**prior.today.differences, **own}), prior.since)
    if prior is not None:
        notes += [f"Left out of the pool: {printable(reason, 300)}." for reason in prior.skipped]
    return notes


def _moved(pool: SeedPool | None, today: SeedPool | None, since: str | None) -> list[str]:
    """That the studies of today tell of another seed noise than those of the time when the study was complete."""
    if (pool is None) == (today is None) and (
        pool is None
        or today is None
        or (math.isclose(pool.variance, today.variance) and math.isclose(pool.df, today.df))
    ):
        return []

    def text(each: SeedPool | None) -> str:
        if each is None:
            return "none"
        return f"standard deviation {math.sqrt(each.variance):.4f} on {each.df:.1f} degrees of freedom"

    return [
        f"Judged with the seed noise that was known when the study was complete ({since}: {text(pool)}), so that no "
        f"later study changes a verdict; with today's studies: {text(today)}."
    ]


def _rules(results: StudyResults) -> list[str]:
    """That a study of version 0.1 is judged by rules that its file does not know yet."""
    study = results.study
    if "noise_weight" in study.thresholds:
        return []
    weight = study_thresholds(study).noise_weight
    gone = [name for name in study.thresholds if name in GONE]
    before = f"; its {' and '.join(gone)} count for nothing any more" if gone else ""
    return [
        f"The study's file is of version 0.1 and it is judged by today's rules: of its thresholds noise_weight is new "
        f"({weight:g}, not written down before the first trial){before}, and p is adjusted step by step for what "
        "effects share."
    ]


def _margins(results: StudyResults, nats: StudyAnalysis) -> list[str]:
    if nats.table is None:
        return []
    smallest = study_thresholds(results.study).smallest("nats")
    wide = {card: margin for card, margin in nats.table.margins.items() if margin > smallest}
    text = f"“No effect” means: the 90 % interval lies within ±{smallest:g} nats"
    text += "".join(f", ±{margin:.4g} for {card} (a quarter of its claim)" for card, margin in wide.items())
    return [f"{text}."]
