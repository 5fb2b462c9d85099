"""Damages every kind of file of a finished workspace, one at a time, and says what `gonn report` and the same command
made of it: `python -m scripts.damage WORKSPACE CARD [--budget smoke …]`, the words behind `gonn ablate`.

Five damages each: a digit or bit flipped in the middle, the same with the time of change restored, the last third cut
off, emptied, deleted. Equal: the effects in the study's effects.csv are those of the undamaged workspace, digit by
digit. Nothing in WORKSPACE is changed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

PLACES = (
    *("runs/*/result.json", "runs/*/config.json", "runs/*/metrics.jsonl", "runs/*/checkpoint.safetensors"),
    *("runs/*/snapshots/*.safetensors", "runs/*/eval/*.json", "runs/*/eval/*.npz", "runs/*/eval/*.sums"),
    *("stores/*/*.npy", "stores/*/names.bin", "stores/*/manifest.json", "stores/index/*.json", "stores/views/*/*"),
    *("studies/*/*.json", "searches/*/*", "matches/*/*.json*", "speeds/*.json", "out/*/*", "out/.cache/**/*"),
)


def flipped(data: bytes) -> bytes:
    """One digit of text, or one bit, changed near the middle."""
    middle = len(data) // 2
    for place in range(middle, len(data)):
        if data[place : place + 1].isdigit() or data[place] > 127:
            new = bytes([data[place] ^ 1])
            return data[:place] + new + data[place + 1 :]
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped": flipped,
    "flipped, time restored": flipped,
    "cut": lambda data: data[: 2 * len(data) // 3],
    "empty": lambda data: b"",
    "deleted": lambda data: data,
}


def kinds(workspace: Path) -> Iterator[Path]:
    """One file of each kind, the largest."""
    for pattern in PLACES:
        by_kind: dict[str, list[Path]] = {}
        for path in workspace.glob(pattern):
            if path.is_file() and not path.name.startswith(".") and path.suffix != ".lock" and path.stat().st_size:
                word = path.name if pattern.startswith(("studies", "stores/*")) else path.suffix
                by_kind.setdefault(word, []).append(path)
        for _, paths in sorted(by_kind.items()):
            yield max(paths, key=lambda path: (path.stat().st_size, path.name)).relative_to(workspace)


def gonn(home: Path, *words: str) -> tuple[int, str]:
    """Exit code and all that was said."""
    environment = {"GONN_HOME": str(home), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    command = [sys.executable, "-m", "orchestration.cli", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def effects(home: Path) -> list[str]:
    """The effects of all studies."""
    return [path.read_text(encoding="utf-8") for path in sorted(home.glob("out/*/effects.csv"))]


def outcome(home: Path, name: str, wanted: list[str], words: list[str]) -> str:
    """What came of one command in one sentence."""
    code, said = gonn(home, *words)
    if "Traceback" in said:
        return f"TRACEBACK ({code})"
    named = Path(name).name in said or Path(name).parent.name in said or "damaged" in said
    numbers = "equal" if effects(home) == wanted else "other numbers" if effects(home) else "no numbers"
    if numbers == "other numbers" and not named:
        numbers = "OTHER NUMBERS, UNNAMED"
    return f"{numbers}, {'named' if named else 'not named'}" + (f", exit {code}" if code else "")


def main() -> None:
    """Print the table."""
    workspace, ablate = Path(sys.argv[1]), ["ablate", *sys.argv[2:]]
    wanted = effects(workspace)
    print("| file | damage | `gonn report` | the same command |\n|---|---|---|---|", flush=True)
    for name in kinds(workspace):
        for damage, spoil in DAMAGES.items():
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder) / "home"
                shutil.copytree(workspace, home, ignore=shutil.ignore_patterns("mlflow.db*", "mlartifacts"))
                path = home / name
                about = path.stat()
                path.write_bytes(spoil(path.read_bytes()))
                if damage == "flipped, time restored":
                    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
                if damage == "deleted":
                    path.unlink()
                reported = outcome(home, str(name), wanted, ["report"])
                again = outcome(home, str(name), wanted, ablate)
                print(f"| `{name}` | {damage} | {reported} | {again} |", flush=True)


if __name__ == "__main__":
    main()
