"""What the studies of a workspace last reported of each enhancement: read from their reports, nothing is analysed."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.schema import budget_label
from gonn_core.errors import UserError, printable
from gonn_core.files.json_files import read_json
from reports.workspace import Workspace


@dataclass(frozen=True)
class Reported:
    """The effect of an enhancement on the loss, by all runs of its base."""

    delta: float
    """Nats with it minus nats without it."""
    verdict: str
    bound: float | None
    """Nats that an effect which is not shown is smaller than."""
    q: float | None
    where: str
    """Base, budget and data of the study."""

    @property
    def text(self) -> str:
        """`−0.3969 helps (q 0.0001)`, `−0.0051 not shown: below 0.020 nats`."""
        from reports.tables.formats import q_value, signed  # with scipy, which a list without results does not need
        from reports.tables.verdicts import bound_text

        text = f"{signed(self.delta)} {self.verdict}"
        if self.bound is not None:
            return f"{text}: below {bound_text(self.bound)}"
        return text if self.q is None else f"{text} (q {q_value(self.q)})"


def last_reported(workspace: Workspace) -> tuple[Mapping[str, Reported], int]:
    """Card -> its effect in the latest study that has a report and is still there, a finished one with results before
    others; and how many reports could not be read."""
    found: dict[str, tuple[tuple, Reported]] = {}
    bad = 0
    for path in sorted(workspace.out.glob("*/report.json")):
        if not (workspace.studies / path.parent.name / "study.json").is_file():
            continue
        try:
            tree = read_json(path)
            study, (done, trials), effects = tree["study"], tree["done"], tree["tables"].get("effects", {})
            rank = study["results"], done == trials, str(study["created"])
            so_far = "" if done == trials else f" {done}/{trials}"
            read = {card: _reported(study, row, so_far) for card, row in effects.items()}
        except (UserError, AttributeError, KeyError, TypeError, ValueError):
            bad += 1
            continue
        for card, effect in read.items():
            if effect is not None and (card not in found or found[card][0] <= rank):
                found[card] = rank, effect
    return {card: effect for card, (_, effect) in found.items()}, bad


def _reported(study: Mapping, row: Mapping, so_far: str) -> Reported | None:
    """The effect in a row of a report's table; None where there is no number yet."""
    if row.get("delta") is None:
        return None
    budget = budget_label(study["budget"], study.get("precision"))
    where = " ".join(printable(str(name), 40) for name in (study["base"], budget, study["data"]))
    bound, q = (None if row.get(key) is None else float(row[key]) for key in ("bound", "q"))
    return Reported(float(row["delta"]), printable(f"{row['verdict']}{so_far}"), bound, q, where)
