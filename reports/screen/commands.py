"""Commands that make a study or go on from it, as they can be typed."""

import shlex
from collections.abc import Sequence

from ablations.study import Study

LOOKS = "4..16"
"""Seeds of a confirmation: a look at every four, until the effect is settled."""


def confirm_command(study: Study, cards: Sequence[str]) -> str:
    """Each card alone at the base, with seeds until it is settled."""
    return _command(study, cards, "--seeds", LOOKS)


def _command(study: Study, cards: Sequence[str], *options: str) -> str:
    settings = [*_place(study), *_samples(study), *_found(study)]
    return shlex.join(["gonn", "ablate", ",".join(cards), *settings, *options])


def _place(study: Study) -> list[str]:
    return ["--base", study.base, "--data", study.data, *_budget(study)]


def _budget(study: Study) -> list[str]:
    return ["--budget", study.budget, *(["--precision", study.precision] if study.precision else [])]


def _samples(study: Study) -> list[str]:
    return ["--samples", str(study.samples)] if study.samples is not None else []


def _found(study: Study) -> list[str]:
    rate = study.arms[0].rate_found_by
    return ["--lr", f"found:{rate}"] if rate else []


def _hold(study: Study) -> list[str]:
    hold = [name for name, reason in study.held.items() if reason.startswith("HOLD")]
    return ["--hold", ",".join(hold)] if hold else []


def study_command(study: Study) -> str:
    """What makes a study, and goes on with it where trials are missing. Of games in a folder of one's own it names the
    data set as the study does."""
    (control, *_), seeds = study.arms, study.seeds
    if control.values and not study.cards and control.rate_found_by is None:
        changed = ["--set=" + path + "=" + value.strip('"') for path, value in control.values.items()]
        settings = ["--data", study.data, *_budget(study), f"--seed={seeds[0]}", *changed]
        return shlex.join(["gonn", "train", study.base, *settings])
    if not study.cards:
        settings = ["--data", study.data, *_budget(study), *_samples(study), *_found(study), *_seeds(study)]
        return shlex.join(["gonn", "scale", study.base, *settings])
    if study.first_look:  # one goes before the study that the budget is for
        return shlex.join(["gonn", "ablate", ",".join(study.cards), *_place(study), *_found(study)])
    design = ["--design", study.design] if study.design != "add-one" else []
    runs = ["--runs", str(len(study.trials))] if study.design == "screen" else []
    futility = ["--futility", f"{study.looks.futility:g}"] if study.looks and study.looks.futility else []
    return _command(study, study.cards, *design, *runs, *_hold(study), *_seeds(study), *futility)


def _seeds(study: Study) -> list[str]:
    """Of every arm, and of the control where it has more."""
    more = [seed for seed in study.trials_of(study.arms[0].id) if seed not in study.seeds]
    control = ["--control-seeds", _numbers((*study.seeds, *more))] if more and study.design != "screen" else []
    looks = study.looks
    return ["--seeds", f"{looks.seeds[0]}..{looks.seeds[-1]}" if looks else _numbers(study.seeds), *control]


def _numbers(seeds: Sequence[int]) -> str:
    alone = "," * (len(seeds) == 1)
    return str(len(seeds)) if list(seeds) == list(range(1, len(seeds) + 1)) else ",".join(map(str, seeds)) + alone
