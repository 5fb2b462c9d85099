"""`gonn train`: one trial of a base net, or its job file for another machine."""

import sys
from pathlib import Path

from ablations.arms import budget_config
from ablations.data.datasets import load_dataset, recipe_of, training_view
from ablations.data.game_filters import with_view
from ablations.registry import load_registry
from ablations.schema import PRECISION
from ablations.search import RATE
from ablations.strict_yaml import parse_yaml
from ablations.study import seeded
from gonn_core.compiling.body import Compile
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import write_json
from gonn_core.settings.data import GamesConfig
from gonn_core.settings.training import Precision
from gonn_core.trial.job import Job
from orchestration.console import notes, output
from orchestration.data.archive_folder import data_folder
from orchestration.data.prepare import prepare_shown
from orchestration.experiment.settings import Device, check_compiled, check_device, run_settings
from orchestration.experiment.stopping import Stopped, at_work
from orchestration.search.adopt import Adopter
from orchestration.speeds.warning import warning
from orchestration.study.laying_out import evaluation_requests, wanted_snapshots
from orchestration.study.trial_folder import find_trial
from reports.workspace import Workspace

_SHARES = {"top1": "top-1", "top4": "top-4"}


def parse_values(settings: tuple[str, ...]) -> dict:
    """`("net.activation=relu",)` -> {"net.activation": "relu"}; values are read like a card's. Raises SettingError."""
    values = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise SettingError("--set", setting, "not a setting", "PATH=VALUE such as net.activation=relu")
        try:
            values[path] = parse_yaml(text, path)
        except InputError:
            raise SettingError(f"--set {path}", text, "not a YAML value") from None
    return values


def _started_from(start: str, config: TrialConfig, workspace: Workspace, runs: Path) -> TrialConfig:
    """`config` starting from the weights of a trial or a file, which are put where trials in `runs` find them."""
    from gonn_core.trial.weights import check_weights, keep_start, load_net, read_weights

    path = Path(start)
    if path.suffix == ".safetensors" or path.is_file():
        state = read_weights(path)
    else:
        path = find_trial(workspace, start, "--from")
        state = load_net(path)[0].state_dict()
    check_weights(state, config, path)
    return with_values(config, {"training.start_from": keep_start(state, runs)})


def train_base(
    base: str,
    data: str,
    data_dir: Path | None,
    budget: str,
    values: tuple[str, ...],
    seed: int,
    job: Path | None,
    device: Device,
    start: str | None = None,
    precision: Precision | None = None,
    compile: Compile = "none",
) -> int:
    """Train one trial and print its result; or write its job file. start: a trial of the workspace, or a file of
    weights, whose weights it starts from."""
    from gonn_core.trial.run import run_trial
    from gonn_core.trial.weights import start_path
    from orchestration.experiment.trial_bar import TrialBar

    registry, workspace = load_registry(), Workspace.here()
    chosen = registry.base(base)
    limits = chosen.in_precision(registry.budget(budget), precision)
    samples = chosen.schedule_end if limits.samples == "claim" else limits.samples
    adopted = Adopter(chosen, limits.id, (seed,), (), workspace, limits.precision).of_base()
    if adopted is not None:
        notes().print(f"learning rate {adopted.rate:g}, {adopted.source}")
    config = with_values(budget_config(chosen, limits, samples), {RATE: adopted.rate} if adopted else {})
    config = with_values(config, set_values := parse_values(values), "--set")
    if precision is not None and PRECISION in set_values:
        raise SettingError(f"--set {PRECISION}", set_values[PRECISION], "--precision says it too", "one of them")
    dataset = load_dataset(data, data_folder(data_dir))
    if job is None:
        check_device(device)
        check_compiled(compile, device)
        if line := warning([config], device, workspace):
            notes().print(line)
    elif config.data.games != GamesConfig():
        raise SettingError(
            "--set data.games",
            config.data.games.model_dump(exclude_defaults=True),
            "a job file names a data set's own views",
            "no --job, or no filter",
        )
    if start is not None:
        runs = workspace.runs if job is None else job.absolute().parent / "runs"
        config = _started_from(start, config, workspace, runs)
    prepared = prepare_shown(dataset, workspace)
    config = seeded(with_view(config, training_view(prepared, config.data.games).digest), seed)
    settings = run_settings(
        workspace,
        prepared,
        evaluation_requests(prepared, limits),
        wanted_snapshots(registry, base, samples),
        device,
        limits,
        compile=compile,
    )
    task = Job(
        config=config,
        run=settings,
        labels={"base": base, "budget": limits.label, "data": prepared.coverage, "seed": str(seed)},
    )
    if job is not None:
        portable = {"runs": "runs", "store": f"stores/{prepared.store.digest}"}  # relative: the job runs anywhere
        task = task.model_copy(update={"run": task.run.model_copy(update=portable)})
        write_json(job, task.model_dump(mode="json"), sealed=False)  # for people to change
        recipe = job.with_name(f"{prepared.dataset.label}.recipe.json")
        write_json(recipe, recipe_of(prepared).model_dump(mode="json"), sealed=False)
        trial = f"{job}: trial {task.id} of {task.config.training.samples:,} samples"
        output().print(f"{trial}; {recipe}: its data. On a machine with the archives:")
        output().print(f"  python -m gonn_core.records {recipe} --games FOLDER")
        if (digest := task.config.training.start_from) is not None:
            weights = start_path(job.absolute().parent / "runs", digest)
            output().print(f"  (with {weights} in a folder weights beside runs)")
        output().print(f"  python -m gonn_core.trial {job}")
        return 0
    shown = TrialBar(task.id, task.config.training.samples, sys.stderr)
    with at_work(workspace, task.id) as command, shown:
        result = run_trial(task, command.listening(shown))
        if command.stop_requested and result["state"] != "done":
            raise Stopped
    if result["state"] != "done":
        return 130
    for evaluation in result["evaluations"]:
        history = evaluation["history"].replace("_", " ")
        shares = ", ".join(f"{title} {100 * evaluation[name]:.2f} %" for name, title in _SHARES.items())
        looked_at = f"{evaluation['positions']:,} positions of {evaluation['games']:,} games"
        output().print(
            f"{evaluation['split']} ({history} history): {evaluation['nats']:.4f} nats, {shares}, {looked_at}"
        )
    output().print(f"trial {task.id} in {workspace.runs / task.id}")
    return 0
