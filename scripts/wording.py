"""Checks the word list of CONTRIBUTING.md: `python -m scripts.wording [PATH…]`, part of `make lint`.

Words in `code` in the first column are checked, in pages and in docstrings, strings and comments of Python files; code
in backticks is skipped. Without paths it checks CHECKED.
"""

import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "scripts/wording.py"),
    *("ablations", "gonn_core", "orchestration", "reports"),
)
LIST = re.compile(r"(?ms)^## Words$.*")
TEXT = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def word_list() -> dict[str, str]:
    """Avoided word or phrase -> replacement."""
    section = LIST.search((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert section is not None
    rows = re.findall(r"(?m)^\| (.+?) \| (.+?) \|$", section[0])
    return {word: better for words, better in rows for word in re.findall(r"`([^`]+)`", words)}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """First line number and text of every passage to check."""
    if path.suffix == ".py":
        with tokenize.open(path) as file:
            yield from (
                (token.start[0], token.string)
                for token in tokenize.generate_tokens(file.readline)
                if token.type in TEXT
            )
    else:
        page = path.read_text(encoding="utf-8")
        yield 1, LIST.sub("", page) if path == ROOT / "CONTRIBUTING.md" else page


def findings(path: Path, words: dict[str, str]) -> Iterator[str]:
    """One line per avoided word."""
    avoided = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
    for first, text in texts(path):
        for number, line in enumerate(text.splitlines(), first):
            for match in avoided.finditer(re.sub(r"`[^`]*`", "", line)):
                yield f"{path.relative_to(ROOT)}:{number}: {match[1]!r}: write {words[match[1].lower()]}"


def lines_of(place: str, words: dict[str, str]) -> list[str]:
    """What should be reworded in a file or folder."""
    path = (ROOT / place).resolve()
    files = sorted(file for file in path.rglob("*") if file.suffix in (".md", ".py")) if path.is_dir() else [path]
    return [line for file in files for line in findings(file, words)]


def main(paths: list[str]) -> int:
    """Print what should be reworded; 1 if there is anything."""
    words = word_list()
    lines = [line for place in paths or CHECKED for line in lines_of(place, words)]
    print("\n".join([*lines, f"wording: {len(lines)} to reword"]) if lines else "wording: nothing found")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
