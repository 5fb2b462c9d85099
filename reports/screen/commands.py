"""Commands that go on from a screen, as they can be typed."""

import shlex
from collections.abc import Sequence

from ablations.study import Study

LOOKS = "4..16"
"""Seeds of a confirmation: a look at every four, until the effect is settled."""


def confirm_command(study: Study, cards: Sequence[str]) -> str:
    """Each card alone at the base, with seeds until it is settled."""
    return _command(study, cards, "--seeds", LOOKS)


def fold_command(study: Study, card: str) -> str:
    """The screen again with a card's sign reversed in as many runs more; the runs that there are count."""
    hold = [name for name, reason in study.held.items() if reason.startswith("HOLD")]
    runs, seeds = 2 * len(study.trials), ",".join(map(str, study.seeds))
    more = ["--hold", ",".join(hold)] if hold else []
    return _command(
        study, study.cards, "--design", "screen", "--runs", str(runs), "--seeds", seeds, *more, "--fold", card
    )


def _command(study: Study, cards: Sequence[str], *options: str) -> str:
    samples = ["--samples", str(study.samples)] if study.samples is not None else []
    rate = study.arms[0].rate_found_by
    found = ["--lr", f"found:{rate}"] if rate else []
    settings = ["--base", study.base, "--data", study.data, "--budget", study.budget, *samples, *found, *options]
    return shlex.join(["gonn", "ablate", ",".join(cards), *settings])
