"""What reports cache of their work, and figures as plain data that are drawn when their files are needed."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from gonn_core.files.whole import write_whole


@dataclass(frozen=True)
class Picture:
    """A figure: `name` without its ending, and what draws its files by name (`<name>.png`, `<name>.svg`), the same
    bytes each time.

    shown: all that it is drawn from, plain data whose text stands for it; None: it is not worth keeping.
    """

    name: str
    title: str
    draw: Callable[[], Mapping[str, bytes]] = field(repr=False)
    shown: object = field(default=None, repr=False)

    def files(self, cache: Path | None = None) -> Mapping[str, bytes]:
        """Its files. `cache`: folder of what reports keep of their work: drawing takes longer than all the rest."""
        if cache is None or self.shown is None:
            return self.draw()
        return cached_files(cache / f"{self.name}.picture", (drawing_code(), self.shown), self.draw)


def drawing_code() -> str:
    """Stands for the code that makes figures and what is in them."""
    return code("reports", libraries=("matplotlib",))


_SOURCES = (".py", ".yaml", ".j2", ".json", ".npz", ".js", ".css")
_DIGEST = 32


def cached(path: Path | None, inputs: object, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, or what `path` holds of it; None: nothing is kept. `inputs`: plain data whose text stands for
    all that it is made from."""
    value = read(path, inputs)
    if value is None:
        value = make()
        keep(path, inputs, value)
    return value


def cached_files(path: Path | None, inputs: object, make: Callable[[], Mapping[str, bytes]]) -> dict[str, bytes]:
    """The same of several files by name."""

    def pack() -> bytes:
        buffer = BytesIO()
        with ZipFile(buffer, "w") as archive:
            for name, data in make().items():
                archive.writestr(ZipInfo(name), data)
        return buffer.getvalue()

    with ZipFile(BytesIO(cached(path, inputs, pack))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def read(path: Path | None, inputs: object) -> bytes | None:
    """The value that was made from these inputs, None where there is none."""
    with suppress(OSError):
        data = b"" if path is None else path.read_bytes()
        value = data[_DIGEST:]
        if data[:_DIGEST] == _sealed(inputs, value):
            return value
    return None


def keep(path: Path | None, inputs: object, value: bytes) -> None:
    """Put a value where `read` finds it."""
    if path is not None:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, _sealed(inputs, value) + value, flush=False)


def _sealed(inputs: object, value: bytes) -> bytes:
    return hashlib.sha256(digest(inputs).encode() + value).digest()


def digest(inputs: object) -> str:
    """32 hex digits that stand for plain data."""
    return hashlib.sha256(repr(inputs).encode()).hexdigest()[:32]


def file_stamp(path: Path) -> tuple[int, int]:
    """Size and time of change of a file, which stand for its content. Raises OSError where it is gone."""
    about = path.stat()
    return about.st_size, about.st_mtime_ns


@cache
def code(*modules: str, libraries: tuple[str, ...] = ()) -> str:
    """32 hex digits that stand for the sources of these modules and packages, declarations and templates included, and
    for the versions of these libraries."""
    whole = hashlib.sha256(" ".join(map(version, libraries)).encode())
    for module in modules:
        spec = find_spec(module)
        assert spec is not None and spec.origin is not None, module
        source = Path(spec.origin)
        package = source.name == "__init__.py"
        for path in sorted(source.parent.rglob("*")) if package else [source]:
            if path.suffix in _SOURCES:
                whole.update(path.read_bytes())
    return whole.hexdigest()[:32]
