"""Downloads from a local server that knows ranges, cuts connections, lies and disappears."""

import random
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gonn_core.errors import UserError
from gonn_core.records.fetch import fetch_kgs
from tests.records.sgf_tools import numbered_game, tar_bytes


def archive(games: int) -> bytes:
    # Incompressible padding makes it larger than one chunk of the download.
    noise = random.Random(games).randbytes(120_000).hex().encode()
    return tar_bytes({f"kgs/{i}.sgf": numbered_game(i) for i in range(games)} | {"kgs/noise.txt": noise}, "w:gz")


class Server:
    """Serves `files`; `cut_after` bytes each of the next answers break off; `log` has (path, Range header)."""

    def __init__(self):
        self.files, self.page, self.cuts, self.ranges, self.log = {}, "", [], True, []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                owner.log.append((self.path, self.headers.get("Range")))
                name = self.path.rsplit("/", 1)[-1]
                if not name:
                    return self.answer(200, owner.page.encode(), {})
                if name not in owner.files:
                    return self.send_error(404)
                data, start = owner.files[name], 0
                asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
                if asked and owner.ranges:
                    start = int(asked[1])
                    if start >= len(data):
                        return self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
                    return self.answer(
                        206, data[start:], {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
                    )
                return self.answer(200, data, {})

            def answer(self, status, body, headers):
                self.send_response(status)
                for key, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(key, value)
                self.end_headers()
                cut = (
                    owner.cuts.pop(0) if status < 400 and body and owner.cuts and not self.path.endswith("/") else None
                )
                self.wfile.write(body if cut is None else body[:cut])
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/gamerecords/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def server():
    server = Server()
    server.files = {
        "KGS-2015-19-3-.tar.gz": archive(3),
        "KGS-2001-19-2-.tar.gz": archive(2),
        "KGS-2001-19-2-.zip": b"unused",
    }
    server.page = (
        "".join(f'<a href="{name}">x</a>' for name in server.files)
        + '<a href="../../etc/passwd">x</a><a href=KGS-2015-13-9-.tar.gz>x</a>'
    )
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_archives_of_the_years_are_fetched_once(server, tmp_path):
    seen = []
    paths = fetch_kgs(tmp_path, server.url, [2001, 2015], lambda *step: seen.append(step))
    assert [path.name for path in paths] == ["KGS-2001-19-2-.tar.gz", "KGS-2015-19-3-.tar.gz"]
    assert all(path.read_bytes() == server.files[path.name] for path in paths)
    assert seen[-1] == (
        "KGS-2015-19-3-.tar.gz",
        len(server.files["KGS-2015-19-3-.tar.gz"]),
        len(server.files["KGS-2015-19-3-.tar.gz"]),
    )
    assert sorted(path.name for path in (tmp_path / "kgs").iterdir()) == [path.name for path in paths]
    server.log.clear()
    assert fetch_kgs(tmp_path, server.url, [2001, 2015]) == paths
    assert [path for path, _ in server.log] == ["/gamerecords/"]


def test_a_cut_connection_is_resumed_with_a_range(server, tmp_path):
    server.cuts = [70_000, 30_000]
    (path,) = fetch_kgs(tmp_path, server.url, [2015])
    assert path.read_bytes() == server.files[path.name]
    asked = [asked for name, asked in server.log if name.endswith("gz")]
    assert asked == [None, "bytes=70000-", "bytes=100000-"]


@pytest.mark.parametrize("extra", [b"", b"longer than it should be"])
def test_a_partial_file_that_is_complete_or_too_long(server, tmp_path, extra):
    name = "KGS-2015-19-3-.tar.gz"
    (tmp_path / "kgs").mkdir()
    (tmp_path / "kgs" / f"{name}.part").write_bytes(server.files[name] + extra)
    (path,) = fetch_kgs(tmp_path, server.url, [2015])
    assert path.read_bytes() == server.files[name]


def test_a_server_without_ranges_restarts(server, tmp_path):
    server.ranges, server.cuts = False, [70_000]
    (path,) = fetch_kgs(tmp_path, server.url, [2015])
    assert path.read_bytes() == server.files[path.name]


@pytest.mark.parametrize("what", ["damaged", "wrong count"])
def test_bad_archives_are_removed_and_reported(server, tmp_path, what):
    name = "KGS-2015-19-3-.tar.gz"
    server.files[name] = server.files[name][:-9] + b"123456789" if what == "damaged" else archive(4)
    with pytest.raises(UserError, match="KGS-2015-19-3-.tar.gz"):
        fetch_kgs(tmp_path, server.url, [2015])
    assert list((tmp_path / "kgs").iterdir()) == []


def test_no_network_says_what_to_put_where(tmp_path, server):
    url = server.url
    server.server.shutdown()
    server.server.server_close()
    with pytest.raises(UserError) as caught:
        fetch_kgs(tmp_path, url, [2014, 2015])
    assert (
        "years 2014, 2015" in str(caught.value)
        and str(tmp_path / "kgs") in str(caught.value)
        and "\n" not in str(caught.value)
    )


def test_a_connection_that_never_gets_on_gives_up_and_keeps_what_came(server, tmp_path):
    server.cuts = [60_000] + [0] * 20
    with pytest.raises(UserError, match="put the files into"):
        fetch_kgs(tmp_path, server.url, [2015])
    assert [path.name for path in (tmp_path / "kgs").iterdir()] == ["KGS-2015-19-3-.tar.gz.part"]


def test_missing_file_and_bad_address(server, tmp_path):
    del server.files["KGS-2015-19-3-.tar.gz"]
    with pytest.raises(UserError, match="Not Found"):
        fetch_kgs(tmp_path, server.url, [2015])
    with pytest.raises(UserError, match="http or https"):
        fetch_kgs(tmp_path, "file:///etc/", [2015])
