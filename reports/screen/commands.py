"""Commands that make a study or resume it, as they can be typed."""

from collections.abc import Sequence

from ablations.request import seeds_text
from ablations.settings import command
from ablations.study import Study

LOOKS = "4..16"
"""Seeds of a confirmation: a look at every four, until the effect is settled."""
_PLACE = ("DATA", "BUDGET", "PRECISION")


def study_settings(study: Study) -> dict[str, str]:
    """Name -> value of the settings that make a study; those at their defaults are left out, but not its place and
    seeds. For games in a folder of one's own, DATA is the study's name of the data set."""
    control, seeds = study.arms[0], tuple(study.trials_of(study.arms[0].id))
    is_screen, looks = study.design == "screen", study.looks
    stated = {
        "NAME": ",".join(study.cards),
        "BASE": study.base,
        "DATA": study.data,
        "BUDGET": study.budget,
        "PRECISION": study.precision,
        "SAMPLES": str(study.samples) if study.samples is not None else None,
        "LR": f"found:{control.rate_found_by}" if control.rate_found_by else None,
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
        settings = {name: settings[name] for name in ("NAME", "BASE", *_PLACE, "LR") if name in settings}
    return command("ablate", settings)
