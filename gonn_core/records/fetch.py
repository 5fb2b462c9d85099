"""Downloads the public KGS archives: resumed where they stopped, checked, and only then given their names. Standard
library only."""

import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from http.client import HTTPException
from pathlib import Path

from gonn_core.errors import InputError, UserError, printable
from gonn_core.files.whole import disk_error
from gonn_core.records.archives import ArchiveReading
from gonn_core.records.archives.members import read_members

KGS_URL = "https://dl.u-go.net/gamerecords/"
_HREF = re.compile(r"""href\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_NAME = re.compile(r"KGS-(\d{4})(?:_\d{2})?-19-(\d{1,7})-(?:new)?\.tar\.gz")
_MAX_INDEX = 4 << 20
_MAX_ARCHIVE = 2 << 30
_CHUNK = 1 << 16
_TIMEOUT = 30
_RETRIES = 5
_NETWORK = (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError)

Report = Callable[[str, int, int], None]
"""progress(file name, bytes so far, bytes in all or 0)"""


def fetch_kgs(
    data_dir: Path, base_url: str = KGS_URL, years: Iterable[int] | None = None, progress: Report | None = None
) -> list[Path]:
    """Download the KGS archives of `years` (None: all) into <data_dir>/kgs; files already there are left. Their paths,
    by name.

    A download that breaks off stays as `.part` and is continued, in this call or in a later one. Each archive is read
    to its end and its games counted against its name before it is renamed. Raises UserError with what to do by hand
    when there is no network.
    """
    folder = Path(data_dir) / "kgs"
    years = None if years is None else set(years)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        archives = _index(base_url, years)
        if not archives:
            raise UserError(f"{base_url}: lists no archives for {_text(years)}")
        return [_fetch(url, folder / name, progress) for name, url in sorted(archives.items())]
    except _NETWORK as error:
        reason = getattr(error, "reason", None) or error
        raise UserError(
            f"cannot fetch from {printable(base_url)} ({printable(str(reason))}); "
            f"get KGS-<year>-19-<games>-.tar.gz for {_text(years)} there on a machine with network "
            f"and put the files into {printable(str(folder))}"
        ) from None
    except OSError as error:
        raise disk_error(folder, error) from None


def _open(url: str, headers: dict | None = None):
    return urllib.request.urlopen(
        urllib.request.Request(url, headers={"User-Agent": "gonn-fetch/1", **(headers or {})}), timeout=_TIMEOUT
    )


def _index(base_url: str, years: set[int] | None) -> dict[str, str]:
    """Archive name -> URL, of the archives of `years` that the index page links on its own host. Only well-formed names
    become file names."""
    here = urllib.parse.urlsplit(base_url)[:2]
    if here[0] not in ("http", "https"):
        raise UserError(f"base_url={printable(base_url)}: valid: an http or https address")
    with _open(base_url) as answer:
        page = answer.read(_MAX_INDEX).decode("utf-8", "replace")
    archives = {}
    for link in _HREF.findall(page):
        url = urllib.parse.urljoin(base_url, link.replace("&amp;", "&"))
        name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rsplit("/", 1)[-1])
        match = _NAME.fullmatch(name)
        if match and urllib.parse.urlsplit(url)[:2] == here and (years is None or int(match[1]) in years):
            archives[name] = url
    return archives


def _fetch(url: str, path: Path, progress: Report | None) -> Path:
    if path.exists():
        return path
    part = path.with_name(path.name + ".part")
    failures = 0
    while True:
        before = _size(part)
        error: Exception = ConnectionError("the connection ended early")
        try:
            if _download(url, part, path.name, progress):
                break
        except _NETWORK as problem:
            if isinstance(problem, urllib.error.HTTPError) and problem.code != 416 and problem.code < 500:
                raise
            error = problem
        failures = 0 if _size(part) > before else failures + 1
        if failures >= _RETRIES:
            raise error
    _verify(part, path)
    os.replace(part, path)
    return path


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _download(url: str, part: Path, name: str, progress: Report | None) -> bool:
    """Continue `part` once; whether it is now complete."""
    have = _size(part)
    try:
        answer = _open(url, {"Range": f"bytes={have}-"} if have else None)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing after `have`: begin again
            part.unlink()
        raise
    with answer:
        part_of = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if answer.status == 206 and part_of and int(part_of[1]) == have:
            total = int(part_of[2])
        else:
            have, total = 0, int(answer.headers.get("Content-Length") or 0)
        with open(part, "ab" if have else "wb") as file:
            while chunk := answer.read(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                if progress:
                    progress(name, have, total)
                if max(have, total) > _MAX_ARCHIVE:
                    raise UserError(f"{url}: more than {_MAX_ARCHIVE:,} bytes; archives of at most that are fetched")
            file.flush()
            os.fsync(file.fileno())
    return not total or have >= total


def _verify(part: Path, path: Path) -> None:
    """Read the archive to its end; the number of games must be the one in its name. A bad file is removed."""
    name = _NAME.fullmatch(path.name)
    assert name is not None  # `_index` takes no others
    expected = int(name[2])
    try:
        games = sum(1 for _ in read_members(part, ArchiveReading(), path.name))
        problem = f"it holds {games:,} games, not {expected:,}" if games != expected else ""
    except InputError as error:
        problem = str(error)
    if problem:
        part.unlink()
        raise InputError(path, f"the download was bad and is removed ({problem}); fetch it again")


def _text(years: set[int] | None) -> str:
    return f"years {', '.join(map(str, sorted(years)))}" if years else "any year"
