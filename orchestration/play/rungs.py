"""The nets of a ladder: snapshots of a trained net and others beside them, each with its loss on test games."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.registry import load_registry
from gonn_core.config import parse_config
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.play.choice import Choice
from gonn_core.play.match.players import NetSpec, load_player, parse_player
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job, read_job, whole_batches
from orchestration.play.rate import net_names
from orchestration.study.folder import all_studies, find_trial
from reports.play.ladder import Rung
from reports.play.players import player_names
from reports.results.costs import net_cost
from reports.results.nets import structure
from reports.workspace import Workspace

_TRIAL = re.compile(r"[0-9a-f]{6,16}")
FEWEST_SAMPLES = 10_000
"""Earlier snapshots hardly play Go."""


@dataclass(frozen=True)
class LadderNet:
    """A rung with the spec it plays by."""

    rung: Rung
    spec: NetSpec


def base_trial(workspace: Workspace, base: str, data: str, budget: str, seed: int) -> Path:
    """The finished trial of a base as it stands, from a study, or of that id. Raises SettingError."""
    registry = load_registry()
    if base not in registry.bases and _TRIAL.fullmatch(base):
        return find_trial(workspace, base, "BASE")
    for study in reversed(all_studies(workspace)):
        if (study.base, study.budget_label, study.data) == (base, budget, data):
            for ref in study.trials:
                if ref.seed == seed and not study.arm(ref.arm).values and _done(workspace.runs / ref.trial):
                    return workspace.runs / ref.trial
    registry.base(base)  # a name that is none has an error of its own
    registry.budget(budget)
    raise SettingError(
        "BASE",
        base,
        f"no finished trial of it on {data} games at budget {budget} with seed {seed}",
        "a trained base or the id of a trial; gonn train or make ablation trains one",
    )


def _config_tree(folder: Path) -> dict:
    tree = TrialDirectory(folder).config()
    if tree is None:
        raise InputError(folder, "no trial directory (no config.json)")
    return tree


def _done(folder: Path) -> bool:
    return TrialDirectory(folder).state() == "done"


def snapshot_specs(trial: Path, sizes: str | None) -> list[NetSpec]:
    """Snapshots of a trial as players with the published choice; sizes: which, such as `10k,100k`, None: all from
    10,000 samples on. Raises UserError."""
    snapshots = [samples for samples in TrialDirectory(trial).snapshots() if samples >= FEWEST_SAMPLES]
    chosen = snapshots
    if sizes is not None:
        batch = parse_config(_config_tree(trial)["config"]).training.batch_size
        chosen = [whole_batches(_number(size, sizes), batch) for size in sizes.split(",")]
    missing = [samples for samples in chosen if samples not in snapshots]
    if missing:
        raise SettingError("--sizes", sizes, f"trial {trial.name} has no such snapshots", snapshots or "none")
    if not chosen:
        raise InputError(trial, f"no snapshot of {FEWEST_SAMPLES:,} samples or more: a ladder needs a longer budget")
    return [NetSpec(trial, samples, Choice()) for samples in chosen]


def _number(text: str, sizes: str) -> int:
    text = text.strip().lower()
    factor = {"k": 1_000, "m": 1_000_000}.get(text[-1:], 1)
    digits = text[:-1] if factor > 1 else text
    if not (digits.isascii() and digits.isdigit()):
        raise SettingError("--sizes", sizes, "not numbers of samples", "such as 10k,20k,50k,100k")
    return int(digits) * factor


def named_specs(workspace: Workspace, texts: Sequence[str]) -> list[NetSpec]:
    """Nets named as for gonn match. Raises SettingError (--with) for an engine."""
    specs = []
    for text in texts:
        spec = parse_player(text, lambda beginning: find_trial(workspace, beginning, "--with"))
        if not isinstance(spec, NetSpec):
            raise SettingError("--with", text, "no trained net", "TRIAL[@samples][,choice=argmax]…")
        specs.append(spec)
    return specs


def ladder_nets(workspace: Workspace, specs: Sequence[NetSpec], say: Callable[[str], None]) -> list[LadderNet]:
    """The nets in the order of a ladder: by their loss on test games, the weakest first. Evaluates snapshots that were
    not yet. Raises UserError."""
    identities = [load_player(spec)[1] for spec in specs]
    unique = {str(identity): (spec, identity) for spec, identity in zip(specs, identities, strict=True)}
    if len(unique) < 2:
        raise UserError("a ladder needs two nets at least: add a snapshot (--sizes) or a net (--with TRIAL)")
    players = {str(number): identity for number, (_, identity) in enumerate(unique.values())}
    names = player_names(players, net_names(workspace))
    nets, subsets = [], set()
    for name, (spec, identity) in zip(names.values(), unique.values(), strict=True):
        job = read_job(spec.directory / "config.json")
        evaluation = _evaluated(workspace, spec.directory, job, identity["samples"], name, say)
        subsets.add(evaluation["subset"])
        rung = Rung(
            name=name,
            player=identity,
            structure=structure(job.config.net),
            parameters=net_cost(job.config)[0],
            nats=evaluation["nats"],
            top1=evaluation["top1"],
            positions=evaluation["positions"],
            test_games=evaluation["games"],
        )
        nets.append(LadderNet(rung, spec))
    if len(subsets) > 1:
        raise UserError("these nets were evaluated on different test games: a ladder wants one measure of their loss")
    return sorted(nets, key=lambda net: (-net.rung.nats, net.rung.id))


def _evaluated(
    workspace: Workspace, folder: Path, job: Job, samples: int, name: str, say: Callable[[str], None]
) -> dict:
    """Summary of a snapshot's evaluation on the test games that its trial was evaluated on, with full history."""
    from gonn_core.trial.evaluations import find_evaluation
    from gonn_core.trial.run import run_trial

    finals = [request for request in job.run.evaluations if request.samples is None]
    final = next((request for request in finals if (request.split, request.history) == ("test", "full")), None)
    if final is None:
        raise SettingError(
            "BASE",
            job.id,
            "this trial was never evaluated on test games with full history",
            "a trial of a study",
        )
    if folder.name != job.id:
        raise InputError(folder, f"holds trial {job.id}: a trial's directory has its name")
    request = final.model_copy(update={"samples": samples})
    where = {
        "runs": str(folder.parent),
        "store": str(workspace.stores / Path(job.run.store).name),
        "evaluations": (request,),
    }
    wanted = job.model_copy(update={"run": job.run.model_copy(update=where)})
    if find_evaluation(TrialDirectory(folder), wanted, request) is None:
        say(f"evaluating {name}")
    return run_trial(wanted)["evaluations"][0]
