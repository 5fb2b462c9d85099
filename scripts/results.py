"""The committed pages below results/, made from the trials packed in results/trials/.

    python -m scripts.results

writes them anew after a change of the reports that is meant, and what else is made from the trials: the noise of each
base, what `make remake` writes, and the numbers that README and docs/findings.md quote. Look at the difference.
`tests/reports/test_example.py` compares them. Pages in results/ name their figures, of which only the ones that README
and docs show are committed: `gonn report` in an unpacked workspace draws the others.
"""

import csv
import io
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import yaml
from PIL import Image

from ablations.registry import load_registry
from benchmarks.noise import write_noise
from orchestration.catalogue.generated import generated_texts
from orchestration.reporting import write_tables
from orchestration.study.folder import all_studies
from orchestration.study.report import Reporter
from reports.book.elo import ladder_files
from reports.play.ladder import load_ladders
from reports.records import NOISE
from reports.stats.verdicts import EffectVerdict
from reports.tables.formats import minus
from reports.workspace import Workspace
from scripts.pack import unpack

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
PACKS = tuple(sorted((RESULTS / "trials").glob("*.tar.xz")))
STUDIES = {
    "kgs-cpu/last_move_input": "last_move_input-gonn-b5-cpu-kgs-35f019",
    "kgs-cpu/liberty_planes": "liberty_planes-gonn-b5-cpu-kgs-9b6d25",
    "kgs-cpu/parametric_relu": "parametric_relu-gonn-b5-cpu-kgs-f20f8b",
    "kgs-cpu/ladder_input": "ladder_input-gonn-b5-cpu-kgs-0d0164",
    "kgs-cpu/stdev_pooling": "stdev_pooling-gonn-b5-cpu-kgs-84118c",
    "kgs-cpu/gonn_blocks": "chain_pooling+dilated_convolutions+global_pooling_head-gonn-b5-cpu-kgs-9e0c91",
    "kgs-cpu/input_normalisation": "input_normalisation-go-nn-cpu-kgs-b32367",
    "kgs-cpu/cazenave": "golois_block+three_output_planes-cazenave-7x128-cpu-kgs-661283",
    "screen-gonn": "parametric_relu+15-more-gonn-b5-cpu-kgs-screen-69bda5",
    "confirm/two_effects": "stem_kernel_5x5+dilated_convolutions-gonn-b5-cpu-kgs-d04e6a",
    "confirm/interaction": "global_pooling_head+global_pooling_trunk-gonn-b5-cpu-kgs-factorial-a6cd8f",
}
"""Folder -> its study, in the model of all runs of all packs."""
FILES = ("report.md", "effects.csv", "interactions.csv")
"""Of each study."""
PAGES = ("kgs-cpu/last_move_input/report.html", "screen-gonn/screened.csv")
"""Further files, of single studies."""
FIGURES = ("kgs-cpu/summary.png", "screen-gonn/screen.png", "play/elo-4x48/elo.png", "report/operations.png")
"""Those that README, docs or a README below results/ show."""
LADDERS = {"play/elo": "1845636e02f3a552", "play/elo-4x48": "0c76470928964722"}
"""Folder -> its ladder."""
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+\.png)\)")


def made_pages(folder: Path) -> dict[str, bytes]:
    """Name below results/ -> content of every file that is made from packs. `folder`: an empty one, for a workspace."""
    made = {}
    with _workspace(folder) as out:
        workspace = Workspace.here()
        reporter = Reporter(workspace)
        studies = all_studies(workspace)
        # Pages of the other studies are not kept, and their figures take as long as all the rest.
        reported = [reporter.report(each, "report", anew=each.id in STUDIES.values()) for each in studies]
        write_tables(workspace, reporter, reported, whole=True)
        made |= {f"report/{path.name}": path.read_bytes() for path in (out / "report").iterdir()}
        made |= {f"kgs-cpu/{path.name}": path.read_bytes() for path in (out / "summary").iterdir()}
        for name, study in STUDIES.items():
            made |= {f"{name}/{path.name}": path.read_bytes() for path in (out / study).iterdir()}
    ladders = {ladder.file.id: ladder for ladder in load_ladders(folder / "elo", folder / "matches")}
    for name, ladder in LADDERS.items():
        files = ladder_files([ladders[ladder]], load_registry())
        made |= {f"{name}/{file}": data for file, data in files.items()}
    return {name: _page(name, data) for name, data in made.items() if _is_kept(name)}


def write_pages() -> None:
    """Write all of them, and remove those that are made no more."""
    with tempfile.TemporaryDirectory() as folder:
        made = made_pages(Path(folder))
        write_noise([Path(folder)])
    for path in kept_pages():
        path.unlink()
    for name, data in made.items():
        (RESULTS / name).parent.mkdir(parents=True, exist_ok=True)
        (RESULTS / name).write_bytes(data)
    for path, text in quoting_pages().items():
        path.write_text(text, encoding="utf-8")
    for path, text in generated_texts(load_registry()):  # records/README.md shows what the noise decides
        path.write_text(text, encoding="utf-8")


def quoting_pages() -> dict[Path, str]:
    """README.md and docs/findings.md with the numbers that they quote: rows of enhancements, runs, trials, studies; the
    records' noise."""
    summary = (RESULTS / "kgs-cpu" / "summary.md").read_text(encoding="utf-8")
    rows: dict[tuple[str, str], list[list[str]]] = {}
    for card, base, rest in re.findall(r"(?m)^\| (\w+)<br>([\w.-]+)<br>[^|]+ \| (.*) \|$", summary):
        rows.setdefault((card, base), []).append(rest.split(" | "))

    def cells(card: str, base: str) -> dict[str, str]:
        (_, delta, verdict, _), (worth, top1, _) = rows[card, base]
        effect, interval, at_base = delta.split("<br>")
        return {
            "effect": effect,
            "interval": interval,
            "at_base": at_base.partition(" [")[0],
            "verdict": verdict.partition("<br>")[0],
            "worth": worth.partition("<br>")[0],
            "top1": top1,
        }

    def readme_row(match: re.Match) -> str:
        return f"| {match[1]} | {' | '.join(cells(match[1], 'gonn-b5').values())} |"

    def findings_row(match: re.Match) -> str:
        found = cells(match[1], match[2])
        shown = (found[key] for key in ("effect", "interval", "verdict", "top1"))
        return f"| {match[1]} | {match[2]} | {' | '.join(shown)} |"

    with (RESULTS / "report" / "effects.csv").open(encoding="utf-8", newline="") as file:
        lengths = {(line["card"], line["samples"]): line for line in csv.DictReader(file)}

    def numbers(card: str, samples: str) -> list[float]:
        found = (lengths[card, samples][key] for key in ("delta", "interval95_low", "interval95_high"))
        return [round(float(value), 4) + 0.0 for value in found]  # no −0.0000

    def length_row(match: re.Match) -> str:
        shown = (minus("{:+.4f} [{:+.4f}, {:+.4f}]".format(*numbers(match[1], at))) for at in ("100000", "400000"))
        return f"| {match[1]} | {' | '.join(shown)} |"

    def together() -> str:
        """Of the small effects: the line through 0 by least squares, weighted by the standard errors at 400,000,
        corrected for those at 100,000, which would flatten it."""
        small = [card for card, at in lengths if at == "400000" and abs(numbers(card, "100000")[0]) < 0.05]
        found = np.array([[numbers(card, at) for card in small] for at in ("100000", "400000")])
        (x, y), (x_error, y_error) = found[..., 0], (found[..., 2] - found[..., 1]) / 4
        along = ((x**2 - x_error**2) / y_error**2).sum()
        return f"all {len(small)} together are {(x * y / y_error**2).sum() / along:.2f} ± {along**-0.5:.2f}"

    with (RESULTS / "kgs-cpu" / "summary.csv").open(encoding="utf-8", newline="") as file:
        summed = list(csv.DictReader(file))

    def error_table() -> str:
        """Standard errors by net, a quarter of the width of the intervals, of nets with five effects and more."""
        effects = [line for line in summed if line["delta"]]
        lines = ["| net | effects | smallest | median | largest |", "|---|---:|---:|---:|---:|"]
        for base in sorted({line["base"] for line in effects}):
            ends = [(line["interval95_high"], line["interval95_low"]) for line in effects if line["base"] == base]
            errors = np.subtract(*np.array(ends, float).T) / 4
            if len(errors) >= 5:
                shown = " | ".join(f"{value:.4f}" for value in np.quantile(errors, (0, 0.5, 1)))
                lines.append(f"| `{base}` | {len(errors)} | {shown} |")
        return "\n".join(lines)

    def elo_table() -> str:
        """The nets of the larger ladder, and the published Elo at their accuracies along straight lines, from the same
        zero."""
        path = RESULTS / "play" / "elo-4x48" / f"elo-{LADDERS['play/elo-4x48']}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            players = list(csv.DictReader(file))
        with (path.parent / "elo.csv").open(encoding="utf-8", newline="") as file:
            points = np.array([(float(line["top1"]), float(line["elo"])) for line in csv.DictReader(file)])
        lines = ["| player | top-1 | Elo here | published |", "|---|---:|---:|---:|"]
        changed = "gonn-b5 with net.trunk.blocks=4, net.trunk.width=48, training.samples="
        for number, player in enumerate(players):
            shown = [player["net"].replace(changed, "4x48, "), "–", "0", "–"]
            if share := player["test_top1"]:
                there, zero = np.interp([float(share), float(players[0]["test_top1"])], *points.T)
                shown[1], shown[3] = f"{100 * float(share):.1f} %", f"{there - zero:.0f}"
            if number:
                shown[2] = f"{float(player['elo']):.0f} ± {float(player['elo_half_width95']):.0f}"
            lines.append(f"| {' | '.join(shown)} |")
        return "\n".join(lines)

    open_verdicts = {verdict.value for verdict in EffectVerdict if verdict.tone == "open"}
    judged = {line["card"] for line in summed if line["verdict"] not in open_verdicts}
    trained = re.search(r"Trained: (\d+) of \d+ trials in (\d+) studies, .*?, ([\d.]+) CPU hours", summary)
    trials, studies, hours = trained.groups()
    runs = sum(map(int, rows["parametric_relu", "gonn-b5"][0][3].partition("<br>")[0].split(" and ")))
    changes = {
        ROOT / "README.md": (
            (r"(?m)^\| (\w+) \| [−+]\d\.\d{4} \| \[.*$", readme_row),
            (r"From \d+ runs of GoNN", f"From {runs} runs of GoNN"),
            (r"\d+ of \d+ enhancements with", f"{len(judged)} of {len(load_registry().cards)} enhancements with"),
        ),
        ROOT / "docs" / "findings.md": (
            (r"(?m)^\| (\w+) \| ([\w.-]+) \| [−+]\d\.\d{4} \| \[.*$", findings_row),
            (r"(?m)^\| (\w+) \| [−+]\d\.\d{4} \[.*$", length_row),
            (r"(?m)^\| net \| effects \|(.*\n)*?(?=\n)", error_table() + "\n"),
            (r"(?m)^\| player \| top-1 \|(.*\n)*?(?=\n)", elo_table() + "\n"),
            (r"all \d+ together are [\d.]+ ± [\d.]+", together()),
            (r"where there are \d+ runs", f"where there are {runs} runs"),
            (
                r"\d+ trials of \d+ studies \([\d.]+ core-hours\) of all",
                f"{trials} trials of {studies} studies ({hours} core-hours) of all",
            ),
        ),
    }
    pages = {NOISE: record_noise()}
    for path, edits in changes.items():
        pages[path] = path.read_text(encoding="utf-8")
        for pattern, new in edits:
            pages[path], count = re.subn(pattern, new, pages[path])
            assert count, f"{path}: nothing like {pattern}"
    return pages


def record_noise() -> str:
    """Of records: the spread of top-1 over the base's runs of 100,000 samples, and its rise with more samples. Games of
    the test add some to the spread, for these runs were tested on a fiftieth of those of a record."""
    top1: dict[int, dict[str, float]] = defaultdict(dict)
    with (RESULTS / "report" / "all-trials.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["label"] == "gonn-b5" and line["budget"] == "cpu" and line["data"] == "kgs" and line["test_top1"]:
                top1[int(line["samples"])][line["trial"]] = float(line["test_top1"])
    runs = list(top1[100_000].values())
    longer = sorted(samples for samples in top1 if samples >= 100_000)
    means = [mean(top1[samples].values()) for samples in longer]
    slope = np.polyfit(np.log10(longer), means, 1)[0]
    source = f"gonn-b5, cpu, kgs, full history: results/report/all-trials.csv; per_decade from {longer[0]:,} samples on"
    values = {"top1": round(stdev(runs), 5), "runs": len(runs), "per_decade": round(float(slope), 4), "source": source}
    head = "# Written by `python -m scripts.results`; do not edit.\n"
    return head + yaml.safe_dump(values, sort_keys=False, width=120)


def kept_pages() -> list[Path]:
    """The committed files that are made."""
    folders = [RESULTS / name for name in ("report", "kgs-cpu", *STUDIES, *LADDERS)]
    files = (path for folder in folders if folder.exists() for path in folder.iterdir() if path.is_file())
    return [path for path in files if path.name != "README.md" and not path.name.startswith("probe_")]


def _is_kept(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    if file.endswith((".png", ".svg")):
        return name in FIGURES
    if folder in STUDIES:
        return file in FILES or name in PAGES
    return file != "manifest.json" and not file.endswith(".tex")  # LaTeX tables repeat what the CSV files hold


def _page(name: str, data: bytes) -> bytes:
    """A markdown page in which a figure that is not committed is named instead of shown; a figure in 256 colours, a
    third of its size."""
    if name.endswith(".png"):
        figure, buffer = Image.open(io.BytesIO(data)).convert("RGB"), io.BytesIO()
        figure.quantize(256, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
        return buffer.getvalue()
    if not name.endswith(".md"):
        return data
    folder = name.rpartition("/")[0]

    def shown(match: re.Match) -> str:
        return match[0] if f"{folder}/{match[2]}" in FIGURES else f"*{match[1]}: {match[2]}, drawn by `gonn report`*"

    return _PICTURE.sub(shown, data.decode()).encode()


@contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    """A workspace with the trials of all packs, as that of this process; gives its folder of reports."""
    before = os.environ.get("GONN_HOME")
    unpack(PACKS, folder)
    os.environ["GONN_HOME"] = str(folder)
    try:
        yield folder / "out"
    finally:
        del os.environ["GONN_HOME"]
        if before is not None:
            os.environ["GONN_HOME"] = before


if __name__ == "__main__":
    write_pages()
