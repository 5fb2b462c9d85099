"""Small SGF files and archives for tests."""

import gzip
import io
import random
import tarfile
import zipfile

LETTERS = "abcdefghijklmnopqrs"
ROOT = "FF[4]GM[1]SZ[19]PB[b]PW[w]"


def sgf(moves: str = "", root: str = ROOT) -> bytes:
    """A game from moves such as "B pd W dd B pass"; colours and points alternate."""
    tokens = moves.split()
    pairs = zip(tokens[::2], tokens[1::2], strict=True)
    nodes = "".join(f";{colour}[{'' if at == 'pass' else at}]" for colour, at in pairs)
    return f"(;{root}{nodes})".encode()


def numbered_game(number: int, length: int = 8, root: str = ROOT) -> bytes:
    """A legal game of its own for each number; stones never touch, so at most 100 moves."""
    points = random.Random(number).sample([column + row for row in LETTERS[::2] for column in LETTERS[::2]], length)
    return sgf(" ".join(f"{'BW'[i % 2]} {p}" for i, p in enumerate(points)), root)


def tar_bytes(members: dict[str, bytes], mode: str = "w") -> bytes:
    """A tar archive; mode as tarfile's, e.g. "w:gz". The same members make the same bytes, whatever the time."""
    if mode == "w:gz":
        return gzip.compress(tar_bytes(members), mtime=0)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_bytes(members: dict[str, bytes], method=zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()
