"""Writes ablations/noise.yaml, from which `gonn plan` shows the smallest effect before anything ran on a machine.

    python -m benchmarks.noise [--workspace FOLDER …]

From the finished studies of the workspaces (default: this one); rows of nets that these did not measure stay.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from ablations.noise import FILE
from ablations.study import Study, read_study
from reports.results.decisions import KnownNoise, known_noise
from reports.workspace import Workspace

KEYS = "base", "budget", "data", "samples"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--workspace", type=Path, nargs="*", default=[Path()])
    write_noise(parser.parse_args().workspace)


def write_noise(workspaces: Sequence[Path]) -> None:
    rows = {tuple(row[key] for key in KEYS): row for row in yaml.safe_load(FILE.read_text(encoding="utf-8"))}
    rows |= {tuple(row[key] for key in KEYS): row for row in noise_rows(workspaces)}
    text = yaml.safe_dump([rows[key] for key in sorted(rows)], sort_keys=False, width=120)
    FILE.write_text(f"# Written by `python -m benchmarks.noise`; do not edit.\n{text}", encoding="utf-8")


def noise_rows(workspaces: Sequence[Path]) -> Iterator[dict]:
    """Seed noise and evaluation variance of each base, budget, data set and number of samples: of several groups of
    runs, that with the most."""
    most: dict[tuple, tuple[Study, KnownNoise]] = {}
    for workspace in workspaces:
        for path in sorted((workspace / "studies").glob("*/study.json")):
            study = read_study(path)
            found = known_noise(workspace / "studies", workspace / "runs", study, Workspace(workspace).report_cache)
            if found is not None and (_kind(study) not in most or found.runs > most[_kind(study)][1].runs):
                most[_kind(study)] = study, found
    for kind, (study, found) in most.items():
        yield {
            **dict(zip(KEYS, kind, strict=True)),
            "seed_variance": rounded(2 * found.run.run**2),
            "df": float(rounded(found.run.df)),
            "evaluation_variance": rounded(found.evaluation_variance),
            "games": study.evaluations[0].games,
            "studies": len(found.studies),
        }


def _kind(study: Study) -> tuple:
    return study.base, study.budget_label, study.data, study.arms[0].config.training.samples


def rounded(value: float) -> float:
    """Three digits."""
    return round(value, 2 - math.floor(math.log10(abs(value)))) if value else 0.0


if __name__ == "__main__":
    main()
