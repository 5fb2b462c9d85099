"""On what a study's trials were trained, and that it was more than one kind of machine."""

from collections import Counter
from collections.abc import Mapping

from gonn_core.errors import printable
from gonn_core.training.compiling import device_label
from reports.results.study_results import UNRECORDED, StudyResults

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
