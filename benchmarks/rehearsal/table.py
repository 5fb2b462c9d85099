"""Rehearsals as a Markdown page."""

from collections.abc import Mapping, Sequence

from benchmarks.rehearsal.arms import Named
from tests.rehearsal.found import Phase, Rehearsal
from tests.rehearsal.waits import WAITS, surprises

Found = Sequence[tuple[Named, Rehearsal]]

COLUMNS = (
    "base",
    "precision",
    "batch",
    "forward",
    "backward",
    "update",
    "evaluation",
    "host waits",
    "copies",
    "other bits",
    "float32 matrix work",
    "GB training",
    "GB evaluation",
)
_PHASES: tuple[Phase, ...] = ("forward", "backward", "update", "evaluation")


_FIRST = """\
Nothing here ran on a GPU: every net made one training step and one evaluation on a device that pretends, whose tensors
have no numbers.

Made by `python -m benchmarks.rehearsal --out results/gpu/rehearsal.md` with torch {torch}. It shows that devices,
shapes and types agree as on a GPU, under CUDA's rules of autocast; not that kernels exist for them, nor times.

## Bases

As the budget `gpu` has them. Forward, backward, update, evaluation: kernels launched, as far as the names of operations
tell. Host waits, copies, other bits: operations of a step or an evaluation for which the host waits for the device,
which copy between them, which may give other bits each time. Float32 matrix work: its share of the step's operations.
GB: the most in tensors at once; evaluations are of 256 positions in float32.
"""
_ARMS = """\
Off and on of {cards} cards on the base of their leading claim, in batches of 2, encoders with two layers; of arms that
run the same operations one: {total} configurations, {passed} of them without a failure, an unknown wait, a copy, or an
operation that may give other bits each time.

| family | configurations | kernels of a step | waits that are known |
|---|---:|---:|---|
"""


def page(bases: Found, arms: Mapping[str, Found], cards: int, torch_version: str) -> str:
    """The whole page."""
    lines = [
        _FIRST.format(torch=torch_version),
        "| " + " | ".join(COLUMNS) + " |",
        "|---|---" + "|---:" * (len(COLUMNS) - 2) + "|",
        *(_row(named, found) for named, found in bases),
        "",
        "## Arms of cards",
        "",
        *_arms(arms, cards),
        "",
        "## Known waits",
        "",
    ]
    for wait in WAITS:
        operations = ", ".join(f"`{name}`" for name in wait.operations)
        lines.append(f"* `{wait.setting}`: {operations}; {wait.reason}.")
    return "\n".join(lines) + "\n"


def _row(named: Named, found: Rehearsal) -> str:
    if found.error:
        return f"| {named.name} | {found.precision} | {found.batch_size} | {found.error} |" + " |" * (len(COLUMNS) - 4)
    share = found.flops(dtype="float32") / found.flops()
    cells = [
        named.name,
        found.precision,
        str(found.batch_size),
        *(str(found.kernels([phase])) for phase in _PHASES),
        *(str(sum(counts.values())) for counts in (found.syncs, found.copies, found.unordered)),
        f"{100 * share:.2f} %",
        f"{found.memory.training / 1e9:.2f}",
        f"{found.memory.evaluation / 1e9:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _arms(arms: Mapping[str, Found], cards: int) -> list[str]:
    total = sum(len(found) for found in arms.values())
    passed = sum(not surprises(named.part.config, found) for each in arms.values() for named, found in each)
    lines = [_ARMS.format(cards=cards, total=total, passed=passed).rstrip()]
    for family, each in arms.items():
        kernels = [found.kernels() for _, found in each]
        waiting = ", ".join(named.name for named, found in each if found.syncs) or "none"
        lines.append(f"| {family} | {len(each)} | {min(kernels)} to {max(kernels)} | {waiting} |")
    failed = [
        f"* {named.name}: {'; '.join(strange)}"
        for each in arms.values()
        for named, found in each
        if (strange := surprises(named.part.config, found))
    ]
    return [*lines, *([""] + failed if failed else [])]
