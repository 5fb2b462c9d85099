"""MLflow's pages as `gonn ui` serves them: its own, with one script before all others.

MLflow takes everybody who comes without an address to its pages for language models ("Traces 0"): the kind that an
experiment is tagged with does not change that, nor does any setting of the server. Each browser keeps what was chosen
last in its own storage, so only a script in the page can choose before anybody did. It also leads an experiment of ours
to the view that was stored with it, and gives groups of runs the colours of their arms, which MLflow looks for in the
browser alone. An experiment of anybody else opens as MLflow opens it.

The server is MLflow's own (`mlflow server --app-name`), and imports this module by the entry point that
`plugin` writes; nothing else does.
"""

import json
import os
import signal
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from orchestration.tracking import view

NAME = "gonn"
"""Of the application, as MLflow's command asks for it."""
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
"""As ASGI has it."""


def script() -> bytes:
    """What is put at the head of MLflow's page."""
    settings = json.dumps({"view": view.QUERY, "shared": view.TAG, "colours": view.COLOURS_TAG})
    text = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    return f"<script>const GONN = {settings};\n{text}</script>".encode()


class FrontPage:
    """MLflow's application, whole, with its first page changed on the way out."""

    def __init__(self, application: Application):
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request. All but a GET of the first page is MLflow's alone, as are its refusals."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            return await self._application(scope, receive, send)
        # A browser that kept the page of another server of this port must not be told that it is still the same.
        unconditional = [each for each in scope["headers"] if not each[0].startswith((b"if-", b"range", b"accept-enc"))]
        start: Message = {}
        body = b""

        async def changed(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            page = start["status"] == 200 and b"<head>" in body
            text = body.replace(b"<head>", b"<head>" + script(), 1) if page else body
            dropped = (b"content-length", b"etag", b"last-modified", b"cache-control")
            kept = [(name, value) for name, value in start["headers"] if not page or name.lower() not in dropped]
            new = [(b"content-length", b"%d" % len(text)), (b"cache-control", b"no-store")] if page else []
            await send({**start, "headers": kept + new})
            await send({"type": "http.response.body", "body": text})

        await self._application({**scope, "headers": unconditional}, receive, changed)


def _end_with_the_command() -> None:
    os.read(0, 1)  # a pipe whose other end is the command's alone
    os.killpg(0, signal.SIGKILL)


def application() -> FrontPage:
    """MLflow's application with this page; called once by the server, which ends with the command that it serves, also
    where that is killed."""
    threading.Thread(target=_end_with_the_command, daemon=True).start()
    from mlflow.server.fastapi_app import app

    return FrontPage(app)


def plugin(folder: Path) -> str:
    """Tell an MLflow server of this application by an entry point in `folder`, without installing anything: another
    server of the same Python is not offered it. Returns what the server's PYTHONPATH begins with."""
    here = Path(__file__).resolve().parents[2]
    described = folder / "gonn_pages-0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: gonn-pages\nVersion: 0\n", encoding="utf-8")
    entry = f"[mlflow.app]\n{NAME} = {__name__}:{application.__name__}\n"
    (described / "entry_points.txt").write_text(entry, encoding="utf-8")
    return f"{folder}{os.pathsep}{here}"
