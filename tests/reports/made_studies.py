"""Studies with made-up results, in the real files: trial directories written through gonn_core's own writers."""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from ablations.designs import budget_config, design_arms
from ablations.registry import Registry, load_registry
from ablations.schema import Enhancement
from ablations.screens.arms import Flips, screen_arms
from ablations.study import EvaluationRef, Study, TrialRef, seeded, study_id
from gonn_core.config import canonical, parse_model, trial_id, with_values
from gonn_core.evaluation.metrics import METRIC_SET, Reading, Scores, evaluation_id
from gonn_core.evaluation.stored import FORMAT, pack_arrays
from gonn_core.trial import weights
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease
from reports.stats.verdicts import Thresholds

VIEW = "a" * 20
GAMES = 40
EVALUATIONS = (("test", "full"), ("test", "as_published"), ("validation", "full"))


@dataclass(frozen=True)
class Made:
    """A study and where its trials lie."""

    study: Study
    folder: Path
    registry: Registry

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def study_folder(self) -> Path:
        return self.folder / "studies" / self.study.id


@cache
def registry() -> Registry:
    """The bundled declarations, read once."""
    return load_registry()


def registry_with(**claims: dict) -> Registry:
    """The bundled bases and budgets with one card, `made_up`: PReLU with claims by id; what is not given is that of
    `early_loss`."""
    usual = {"metric": "nats", "direction": "decrease", "samples": 5_000_000, "base": "gonn-b4", "games": "any"}
    usual |= {"data": "any", "evidence": "stated", "document": "gonn_sandbox", "section": "Somewhere (2018)"}
    tree = {"id": "made_up", "title": "Made up", "system": "gonn", "summary": "Slopes.", "base": "gonn-b4"}
    tree |= {"toggles": {"net.activation": {"off": "relu", "on": "prelu"}}}
    tree |= {"claims": [{**usual, "id": name, **claim} for name, claim in claims.items()]}
    made = replace(registry(), cards={"made_up": parse_model(Enhancement, tree, "made_up.yaml")})
    made._checked["card", "made_up"] = made.cards["made_up"]  # its claims may contradict each other, no true card's may
    return made


def plan_study(
    folder: Path,
    *cards: str,
    seeds=(1, 2, 3, 4),
    design="add-one",
    pairing="by_position",
    budget="smoke",
    base="gonn-b5",
    cards_of=None,
    reading=None,
    runs=None,
    **values,
) -> Made:
    """A study of these cards, written down with nothing trained. cards_of: a registry; reading: settings of evaluation;
    runs: of a screen; other keywords: fields of the study to replace."""
    declared = cards_of or registry()
    stand = declared.base(base)
    config = with_values(
        budget_config(stand, declared.budget(budget), 5_000_000), {"data.view": VIEW, **(reading or {})}
    )
    formed = [declared.card(card).on_base(base) for card in cards]
    if design == "screen":
        screen = screen_arms(Flips(base, config, formed), formed)
        arms, contrasts = screen.arms, screen.contrasts
        own = screen.seeds_of(screen.runs_of(runs), seeds)
    else:
        arms, contrasts = design_arms(design, base, config, formed)
        own = dict.fromkeys((arm.id for arm in arms), tuple(seeds))
    pairs = [(seed, arm) for seed in seeds for arm in arms if seed in own[arm.id]]
    trials = tuple(TrialRef(trial=trial_id(seeded(arm.config, seed)), arm=arm.id, seed=seed) for seed, arm in pairs)
    counts = _games()
    size = {"view": VIEW, "positions": int(counts.sum()), "games": GAMES}
    references = tuple(
        EvaluationRef(split=split, history=history, subset=_subset(split), **size) for split, history in EVALUATIONS
    )
    thresholds = Thresholds()
    study = Study(
        id=study_id(cards, base, budget, "kgs", design, [trial.trial for trial in trials], thresholds, references),
        title=", ".join(card.title for card in formed),
        cards=cards,
        base=base,
        budget=budget,
        design=design,
        data="kgs",
        coverage="kgs, 4 of 15 training years",
        pairing=pairing,
        seeds=seeds,
        arms=arms,
        contrasts=contrasts,
        trials=trials,
        evaluations=references,
        thresholds=thresholds,
        created="2026-01-02T03:04:05+00:00",
        commit="0123456789abcdef",
        dirty=False,
    ).model_copy(update=values)
    made = Made(study, folder, declared)
    made.study_folder.mkdir(parents=True)
    (made.study_folder / "study.json").write_text(json.dumps(study.model_dump(mode="json")))
    return made


def _games() -> np.ndarray:
    """Positions of each game."""
    return np.random.default_rng(0).integers(20, 80, size=GAMES)


def _subset(split: str) -> str:
    return {"test": "b", "validation": "c"}[split] * 20


def train(
    made: Made, effects: dict[str, float], skip=(), scale: dict[str, float] | None = None, weights: bool = False
) -> None:
    """Give every trial results; arms have the true difference `effects` (0 unless named) in nats to the control.

    skip: (arm, seed) of trials left out; scale: multiplies an arm's noise between seeds; weights: snapshots of real
    nets, slopes moved.
    """
    for trial in made.study.trials:
        if (trial.arm, trial.seed) not in set(skip):
            noise = (scale or {}).get(trial.arm, 1.0)
            finish_trial(made, trial, effects.get(trial.arm, 0.0), noise, weights)


def finish_trial(made: Made, trial: TrialRef, effect: float, noise: float = 1.0, weights: bool = False) -> None:
    """Write the directory of one trial that is done."""
    config = seeded(made.study.arm(trial.arm).config, trial.seed)
    arm = [each.id for each in made.study.arms].index(trial.arm)
    generator = np.random.default_rng([trial.seed, arm])
    shared = np.random.default_rng([99, trial.seed]).normal(0, 0.006)
    level = 2.5 + effect + shared + noise * generator.normal(0, 0.004)
    directory = TrialDirectory(made.runs / trial.trial)
    directory.create()
    samples, digest = config.training.samples, f"{arm:04x}{trial.seed:012x}"
    with Lease.take(directory.path) as lease:
        directory.write_json("config.json", _config_tree(trial.trial, config), lease)
        lines, same = [], {"learning_rate": 0.1, "samples_per_s": 900.0, "wall_seconds": 1.0, "cpu_seconds": 1.0}
        for point in range(1, 6):
            nats = level + 2.5 * (1 - point / 5) ** 2 + generator.normal(0, 0.004)
            line = {"samples": samples * point // 5, "train_nats": nats + 0.05, "nats": nats, "top1": 0.3, "top4": 0.6}
            line |= {**same, "looks": point, "train_top1": 0.31 - (nats - 2.5) / 10, "training_seconds": 1.0}
            if config.training.loss == "squared_error":
                line["train_loss"] = line["train_nats"] / 4
            lines.append(line)
        directory.write_metrics(lines, lease)
        for reference in made.study.evaluations:
            _write_evaluation(directory, lease, reference, digest, samples, level, generator, config)
        if weights:
            _write_snapshot(directory, lease, trial, config, digest)
        result = {"id": trial.trial, "samples": samples, "weights": digest, "parameters": 1, "device": "cpu"}
        result |= {"train_nats": lines[-1]["train_nats"], "samples_per_s": samples / 7.0, "wall_seconds": 9.0}
        result |= {"cpu_seconds": 8.5, "training_seconds": 7.0}
        directory.write_json("result.json", result, lease)


def fail_trial(made: Made, trial: TrialRef, error: str) -> None:
    """Write the directory of one trial that failed."""
    directory = TrialDirectory(made.runs / trial.trial)
    directory.create()
    with Lease.take(directory.path) as lease:
        config = seeded(made.study.arm(trial.arm).config, trial.seed)
        directory.write_json("config.json", _config_tree(trial.trial, config), lease)
        failure = {"id": trial.trial, "error": error, "traceback": "…", "time": "t", "unix_time": 0.0}
        directory.write_json("failure.json", failure, lease)


def _config_tree(trial: str, config) -> dict:
    versions = {"python": "3.11", "torch": "2.13.0", "numpy": "2.4", "numba": "0.68"}
    session = {"started": "t", "from_samples": 0, "device": "cpu", "threads": 1, "loader_threads": 1}
    session |= {"processor": "A processor, AVX-512", "memory_format": "channels_last", "versions": versions}
    session |= {"commit": "0123456789abcdef", "dirty": False}
    tree = {"id": trial, "canonical": canonical(config), "config": config.model_dump(mode="json"), "numerics": {}}
    return {**tree, "run": {}, "labels": {}, "sessions": [session]}


def _write_evaluation(
    directory, lease, reference: EvaluationRef, digest: str, samples: int, level: float, generator, config
) -> None:
    counts = _games()
    games = np.repeat(np.arange(GAMES), counts)
    difficulty = np.random.default_rng(5).normal(0, 0.2, GAMES)
    spread = np.random.default_rng(6).gamma(2.0, 0.4, len(games)) - 0.8
    nats = level + (0.02 if reference.history == "as_published" else 0.0) + difficulty[games] + spread
    nats = np.maximum(nats + generator.normal(0, 0.02, GAMES)[games], 0.01).astype(np.float32)
    scores = Scores(nats, np.minimum(np.floor(np.exp(nats) / 6), 360).astype(np.uint16), nats * 0.9, 1 - np.exp(-nats))
    if planes := config.net.residual.output_planes - 1:
        later = [np.repeat(values[:, None], planes, 1) for values in (nats, scores.rank, scores.squared_error)]
        scores = scores._replace(
            later_nats=later[0], later_rank=later[1].astype(np.int16), later_squared_error=later[2] + np.float32(0.3)
        )
    ply = np.concatenate([np.arange(count) for count in counts]).astype(np.int16)
    reading = Reading(**config.evaluation.model_dump())
    identity = evaluation_id(digest, reference.subset, reference.history, reading)
    about = {"format": FORMAT, "id": identity, "metric_set": METRIC_SET, "weights": digest, "samples": samples}
    about |= {"split": reference.split}
    about |= {"view": VIEW, "subset": reference.subset, "history": reference.history, **reading._asdict()}
    about |= {"positions": len(games), "games": GAMES, **scores.means(), "seconds": 1.0, "requests": []}
    directory.write(
        f"eval/{identity}.npz",
        pack_arrays(scores._replace(ply=ply, ko=ply % 30 == 7), np.arange(len(games)), games),
        lease,
    )
    directory.write(f"eval/{identity}.json", json.dumps(about).encode(), lease)


def _write_snapshot(directory, lease, trial: TrialRef, config, digest: str) -> None:
    """A net with its initial weights, all slopes 0.25 lower and every kernel's centre doubled."""
    from gonn_core.features.sets import plane_names
    from gonn_core.nets import build_net

    tensors = build_net(config.net, plane_names(config.features), config.training.init_seed).state_dict()
    for name, values in tensors.items():
        if "slopes" in name:
            values -= 0.25
        if values.dim() == 4 and name.startswith("blocks."):
            values[:, :, 1, 1] *= 2
    samples = config.training.samples
    data = weights.pack(trial.trial, tensors, {"samples": samples, "weights": digest})
    directory.write(f"snapshots/{samples}.safetensors", data, lease)
