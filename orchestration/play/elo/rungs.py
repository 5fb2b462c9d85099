"""Who stands on a ladder: snapshots of a trained net and further nets, each with what it is worth on test games."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.arms import budget_config
from ablations.registry import load_registry
from ablations.study import seeded
from gonn_core.config import parse_config, with_values
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.play.match.spec import NetSpec, load_player, parse_player
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job, read_job, whole_batches
from orchestration.play.rate import net_names
from orchestration.study.folder import all_studies
from orchestration.study.trial_folder import find_trial
from orchestration.workspace import Workspace
from reports.play.ladder import Rung
from reports.play.players import player_names
from reports.results.costs import net_cost
from reports.results.nets import structure

_TRIAL = re.compile(r"[0-9a-f]{6,16}")
FEWEST_SAMPLES = 10_000
"""Earlier snapshots hardly play Go."""


@dataclass(frozen=True)
class Standing:
    """A rung with the spec it plays by."""

    rung: Rung
    spec: NetSpec


def base_trial(workspace: Workspace, base: str, data: str, budget: str, seed: int) -> Path:
    """The finished trial of a base as it stands, from a study or from gonn train, or of that id. Raises
    SettingError."""
    registry = load_registry()
    if base not in registry.bases and _TRIAL.fullmatch(base):
        return find_trial(workspace, base, "BASE")
    stand, plan = registry.base(base), registry.budget(budget)
    for study in reversed(all_studies(workspace)):
        if (study.base, study.budget, study.data) == (base, budget, data):
            for ref in study.trials:
                if ref.seed == seed and not study.arm(ref.arm).values and _done(workspace.runs / ref.trial):
                    return workspace.runs / ref.trial
    plain = budget_config(stand, plan, stand.schedule_end if plan.samples == "claim" else plan.samples)
    for path in sorted(workspace.runs.glob("*/config.json")):
        tree = TrialDirectory(path.parent).config()
        told = (
            tree["labels"].get("base"),
            tree["labels"].get("budget"),
            tree["labels"].get("data", "").split(",")[0],
            tree["labels"].get("seed"),
        )
        if told == (base, budget, data, str(seed)) and _done(path.parent):
            config = parse_config(tree["config"])
            if config == seeded(
                with_values(plain, {"data.view": config.data.view}), seed
            ):  # gonn train --set makes other nets of a base
                return path.parent
    raise SettingError(
        "BASE",
        base,
        f"no finished trial of it on {data} games at budget {budget} with seed {seed}",
        "a trained base or the id of a trial; gonn train or make ablation trains one",
    )


def _done(folder: Path) -> bool:
    return TrialDirectory(folder).state() == "done"


def snapshot_specs(trial: Path, sizes: str | None) -> list[NetSpec]:
    """Snapshots of a trial as players with the published choice; sizes: which, such as `10k,100k`, None: all from
    10,000 samples on. Raises SettingError."""
    kept = [samples for samples in TrialDirectory(trial).snapshots() if samples >= FEWEST_SAMPLES]
    batch = parse_config(TrialDirectory(trial).config()["config"]).training.batch_size
    chosen = kept if sizes is None else [whole_batches(_number(each, sizes), batch) for each in sizes.split(",")]
    missing = [samples for samples in chosen if samples not in kept]
    if missing or not chosen:
        raise SettingError(
            "--sizes",
            sizes,
            f"trial {trial.name} has no such snapshots",
            [f"{samples:,}".replace(",", "") for samples in kept] or "none",
        )
    return [parse_player(f"{trial}@{samples}") for samples in chosen]


def _number(text: str, sizes: str) -> int:
    text = text.strip().lower()
    factor = {"k": 1_000, "m": 1_000_000}.get(text[-1:], 1)
    digits = text[:-1] if factor > 1 else text
    if not (digits.isascii() and digits.isdigit()):
        raise SettingError("--sizes", sizes, "not numbers of samples", "such as 10k,20k,50k,100k")
    return int(digits) * factor


def further_specs(workspace: Workspace, texts: Sequence[str]) -> list[NetSpec]:
    """Nets named as for gonn match. Raises SettingError (--with) for an engine."""
    specs = []
    for text in texts:
        spec = parse_player(text, lambda beginning: find_trial(workspace, beginning, "--with"))
        if not isinstance(spec, NetSpec):
            raise SettingError("--with", text, "no trained net", "TRIAL[@samples][,choice=argmax]…")
        specs.append(spec)
    return specs


def standings(workspace: Workspace, specs: Sequence[NetSpec], say: Callable[[str], None]) -> list[Standing]:
    """The nets in the order of a ladder: by their loss on test games, the weakest first. Evaluates snapshots that were
    not yet. Raises UserError."""
    identities = [load_player(spec)[1] for spec in specs]
    unique = {str(identity): (spec, identity) for spec, identity in zip(specs, identities)}
    if len(unique) < 2:
        raise SettingError(
            "--sizes", len(unique), "a ladder needs at least two nets", "more snapshots, or further nets: --with TRIAL"
        )
    names = player_names(
        {str(number): identity for number, (_, identity) in enumerate(unique.values())}, net_names(workspace)
    )
    found, subsets = [], set()
    for number, (spec, identity) in enumerate(unique.values()):
        job = read_job(spec.directory / "config.json")
        worth = _worth(
            workspace, spec.directory, job, identity["samples"], lambda: say(f"evaluating {names[str(number)]}")
        )
        subsets.add(worth["subset"])
        rung = Rung(
            name=names[str(number)],
            player=identity,
            structure=structure(job.config.net),
            parameters=net_cost(job.config)[0],
            nats=worth["nats"],
            top1=worth["top1"],
            positions=worth["positions"],
            test_games=worth["games"],
        )
        found.append(Standing(rung, spec))
    if len(subsets) > 1:
        raise UserError("these nets were evaluated on different test games: a ladder wants one measure of their loss")
    return sorted(found, key=lambda each: (-each.rung.nats, each.rung.id))


def _worth(workspace: Workspace, folder: Path, job: Job, samples: int, telling: Callable[[], None]) -> dict:
    """Summary of a snapshot's evaluation on the test games that its trial was evaluated on, with full history."""
    from gonn_core.trial.evaluations import find_evaluation
    from gonn_core.trial.run import run_trial

    asked = next(
        (
            request
            for request in job.run.evaluations
            if (request.split, request.history, request.samples) == ("test", "full", None)
        ),
        None,
    )
    if asked is None:
        raise SettingError(
            "BASE",
            job.id,
            "this trial was never evaluated on test games with full history",
            "a trial of a study, or of gonn train",
        )
    if folder.name != job.id:
        raise InputError(folder, f"holds trial {job.id}: a trial's directory has its name")
    request = asked.model_copy(update={"samples": samples})
    where = {
        "runs": str(folder.parent),
        "store": str(workspace.stores / Path(job.run.store).name),
        "evaluations": (request,),
    }
    wanted = job.model_copy(update={"run": job.run.model_copy(update=where)})
    if find_evaluation(TrialDirectory(folder), wanted, request) is None:
        telling()
    return run_trial(wanted)["evaluations"][0]
