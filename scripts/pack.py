"""Pack trials in the compact form that reports read: evaluations as sums by game, no checkpoints.

    python -m scripts.pack WORKSPACE PACK.tar.xz [--weights TRIAL]... [STUDY]...
    python -m scripts.pack --unpack WORKSPACE PACK.tar.xz...

The first writes what the other packs in PACK's folder do not hold of these studies (the beginnings of their ids; all
unless given) and of their evaluations, of all matches and of all ladders. `--weights`: a trial whose final weights are
packed too, for the statistics of weights in reports. The second writes the files of packs into a workspace, where
`gonn report` reads them.

The values of single positions are not packed: the commands in results/*/README.md train the same trials again.
"""

import argparse
import io
import lzma
import tarfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ablations.study import Study
from gonn_core.evaluation.stored import load_evaluations, pack_compact
from gonn_core.files.seals import checked_json, sealed_json
from orchestration.study.folder import all_studies, find_study
from reports.workspace import Workspace

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 26, "lc": 0, "lp": 2, "pb": 2}]
"""For arrays of four-byte numbers, many of which are alike."""


def pack(workspace: Workspace, studies: Iterable[Study], known: Collection[str], weights: Sequence[str] = ()) -> bytes:
    """Content of a pack without the files named in `known`. `weights`: trials whose last snapshot it holds."""
    files: dict[str, bytes] = {}
    for study in studies:
        files |= _of_study(workspace, study, weights)
    for pattern in ("matches/*/match.json", "matches/*/games.jsonl", "elo/*/elo.json"):
        files |= {str(path.relative_to(workspace.root)): path.read_bytes() for path in workspace.root.glob(pattern)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        # By kind of file: what is alike is packed best side by side.
        for name in sorted(files.keys() - set(known), key=lambda name: (Path(name).suffix, Path(name).name, name)):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))
    return lzma.compress(buffer.getvalue(), filters=_FILTERS)


def members(packs: Iterable[Path]) -> dict[str, bytes]:
    """Name -> content of the files in packs."""
    files = {}
    for path in packs:
        with tarfile.open(path, "r:xz") as tar:
            files |= {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
    return files


def unpack(packs: Iterable[Path], folder: Path) -> None:
    """Write the files of packs into a workspace."""
    for name, data in members(packs).items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{name}: outside the workspace")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _of_study(workspace: Workspace, study: Study, weights: Sequence[str]) -> Mapping[str, bytes]:
    paths = [workspace.studies / study.id / name for name in ("study.json", "speed.json", "looks.json")]
    compact: dict[Path, bytes] = {}
    subsets = {evaluation.subset for evaluation in study.evaluations}
    for trial in study.trials:
        folder = workspace.runs / trial.trial
        paths += [folder / name for name in ("config.json", "result.json", "metrics.jsonl", "failure.json")]
        paths += sorted(folder.glob("probes/[!.]*"))
        if trial.trial in weights:
            paths.append(folder / "snapshots" / f"{study.arm(trial.arm).config.training.samples}.safetensors")
        for evaluation in (each for each in load_evaluations(folder) if each.summary["subset"] in subsets):
            compact |= {evaluation.path.with_suffix(end): data for end, data in pack_compact(evaluation).items()}
    files = {path: _without_places(path) for path in paths if path.exists()} | compact
    return {path.relative_to(workspace.root).as_posix(): data for path, data in files.items()}


def _without_places(path: Path) -> bytes:
    """A file's content; in a configuration, folders are named as within a workspace."""
    data = path.read_bytes()
    if path.name != "config.json":
        return data
    tree = checked_json(path, data)
    tree["run"] |= {"runs": "runs", "store": f"stores/{Path(tree['run']['store']).name}"}
    return sealed_json(tree)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unpack", action="store_true", help="write the files of packs into the workspace")
    parser.add_argument("--weights", action="append", default=[], metavar="TRIAL", help="pack its final weights too")
    parser.add_argument("workspace", type=Path)
    parser.add_argument("pack", type=Path)
    parser.add_argument("rest", nargs="*", metavar="STUDY", help="beginnings of ids, or further packs to unpack")
    given = parser.parse_args()
    workspace = Workspace(given.workspace.resolve())
    if given.unpack:
        return unpack([given.pack, *map(Path, given.rest)], workspace.root)
    studies = [find_study(workspace, study) for study in given.rest] if given.rest else all_studies(workspace)
    others = [path for path in given.pack.parent.glob("*.tar.xz") if path.name != given.pack.name]
    given.pack.write_bytes(pack(workspace, studies, members(others).keys(), given.weights))


if __name__ == "__main__":
    main()
