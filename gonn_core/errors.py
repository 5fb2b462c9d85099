"""Errors that a user can cause: one line that names the setting, its value and the valid values."""

import re
import unicodedata

_LONGEST_LINE = 4000
"""Characters of an error; names of files, archive members and keys may be part of it, so all of it is made
printable."""


class UserError(Exception):
    """Something the user can put right; the command prints its one line and exits with code 2."""

    exit_code = 2

    def __reduce__(self):
        """For pickle: without `__init__`, whose arguments `args` does not hold."""
        return BaseException.__new__, (type(self), *self.args), self.__dict__


class SettingError(UserError):
    """A setting with a value that is not valid: `NAME=foo: not a known enhancement; valid: …`."""

    def __init__(self, setting: str, value, problem: str, valid=None):
        self.setting, self.value, self.problem, self.valid = setting, value, problem, valid
        text = f"{setting}={printable(str(value))}: {problem}"
        if valid is not None:
            text += f"; valid: {valid if isinstance(valid, str) else ', '.join(map(str, valid))}"
        super().__init__(printable(text, _LONGEST_LINE))


class InputError(UserError):
    """A file or folder that cannot be used: `<path>: <problem>`."""

    def __init__(self, path, problem: str):
        self.path, self.problem = path, problem
        super().__init__(printable(f"{printable(str(path))}: {problem}", _LONGEST_LINE))


class Damaged(InputError):
    """A file that is not what was written: a flipped bit, cut short, emptied. Callers make it again where they can."""


def printable(text: str, limit: int = 200) -> str:
    """`text` on one line without control, formatting or surrogate characters (each shown as an escape), cut at `limit`
    characters."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    out = []
    for character in text[: limit + 1]:
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            out.append(character.encode("unicode_escape").decode("ascii"))
        else:
            out.append(character)
    return "".join(out[:limit]) + ("…" if len(text) > limit else "")


def printable_tree(tree):
    """A tree as read from JSON with all its texts made printable, line by line, whatever their length; keys too."""
    if isinstance(tree, str):
        return "\n".join(printable(line, len(line)) for line in tree.split("\n"))
    if isinstance(tree, dict):
        return {printable(key): printable_tree(value) for key, value in tree.items()}
    return [printable_tree(item) for item in tree] if isinstance(tree, list) else tree


_SIGNS = re.compile(
    r"^\s*(?:[-+](?=[-+\s]|$)|=(?=[=\s]*$)|#|>|\d{1,9}[.)](?=\s|$)|\[[ xX]?\]|\[[^\[\]]*\]$)"  # what begins a block
    r"|(?<=\s)#"  # what may end a heading
    r"|[\\`*|~$<]"
    r"|(?<![^\W_])_+|_+(?![^\W_])"  # between letters or digits it begins and ends nothing
    r"|&(?=#|\w+;|$)|!(?=\[|$)"
    r"|(?P<pair>\[(?!\^)[^\[\]]*\](?![\[(:]))|[\[\]]"
)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown_escape(text: str) -> str:
    """`text` made printable and inert in markdown and HTML.

    Only what can begin or end markup at its place is escaped: an underscore within a word, the brackets of an
    interval and a parenthesis cannot. The text may be at the beginning of a block, and in a heading, cell or link.
    """
    return _SIGNS.sub(_inert, printable(text, len(text)))


def _inert(found: re.Match) -> str:
    """What _SIGNS found, so that it is itself. A pair of brackets that no link can end is left, but for signs in it."""
    signs = found.group()
    if found.group("pair"):
        return f"[{_SIGNS.sub(_inert, signs[1:-1])}]"
    if len(signs) > 1 and signs.strip(" \t")[0] == "[":
        return signs.replace("[", "\\[").replace("]", "\\]")
    return "".join(
        _ENTITIES.get(sign, "\\" + sign) if not sign.isalnum() and not sign.isspace() else sign for sign in signs
    )


_OUT_OF_MEMORY = (
    "out of memory",
    "STATUS_ALLOC_FAILED",
    "llocate memory",
    "can't start new thread",
    "failed to map segment",
)
"""In messages of CUDA, cuBLAS, cuDNN, torch's allocator, Python and the loader, which have no error type for it."""


class OutOfMemory(UserError):
    """The GPU or the machine ran out of memory. The trial can resume from its last checkpoint."""

    def __init__(self, problem: str):
        super().__init__(f"out of memory ({printable(problem, 300)})")


def shortage(error: BaseException) -> str | None:
    """The first sentence of an exception about a lack of memory; None for other exceptions."""
    text = str(error)
    is_one = (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or (isinstance(error, RuntimeError | OSError | ImportError) and any(sign in text for sign in _OUT_OF_MEMORY))
    )
    return text.split("\n")[0].split(". ")[0] or type(error).__name__ if is_one else None
