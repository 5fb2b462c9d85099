"""What has to be said beside the tables: runs, noise, q, data, looks, cost, unfinished trials."""

from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis, study_thresholds
from reports.results.costs import FLOPS_COUNTED, speed_note
from reports.results.group import MAIN
from reports.results.speed_and_looks import look_counts_text
from reports.results.study_results import StudyResults
from reports.stats.verdicts import EffectVerdict
from reports.study.looks import looks_notes
from reports.study.machines import machine_notes, trained_on
from reports.study.tables import describe
from reports.tables.coverage import in_short


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
    alpha = study_thresholds(results.study).alpha
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
