"""Small SGF files and archives for tests."""

import io
import tarfile
import zipfile

LETTERS = "abcdefghijklmnopqrs"
ROOT = "FF[4]GM[1]SZ[19]PB[b]PW[w]"


def sgf(moves: str = "", root: str = ROOT) -> bytes:
    """A game from moves such as "B pd W dd B pass"; colours and points alternate."""
    words = moves.split()
    nodes = "".join(f";{colour}[{'' if at == 'pass' else at}]" for colour, at in zip(words[::2], words[1::2]))
    return f"(;{root}{nodes})".encode()


def numbered_game(number: int, length: int = 8, root: str = ROOT) -> bytes:
    """A legal game that differs from that of every other number below 10,000 (points far apart, no captures)."""
    first = number % 100
    second = number // 100 % 100
    points = [LETTERS[2 * (first % 9)] + LETTERS[2 * (first // 9 % 9)] if first < 81 else LETTERS[1 + first - 81] + "r"]
    points.append(LETTERS[1 + 2 * (second % 9)] + LETTERS[2 * (second // 9 % 9)] if second < 81 else LETTERS[1 + second - 81] + "p")
    taken = set(points)
    points += [p for p in (LETTERS[2 * i] + LETTERS[1 + 2 * j] for j in range(8) for i in range(9)) if p not in taken][: length - 2]
    return sgf(" ".join(f"{'BW'[i % 2]} {p}" for i, p in enumerate(points)), root)


def tar_bytes(members: dict[str, bytes], mode: str = "w") -> bytes:
    """A tar archive; mode as tarfile's, e.g. "w:gz"."""
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
