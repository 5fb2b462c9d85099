"""Pictures of the MLflow pages of a workspace: `python -m scripts.mlflow_pictures FOLDER [STUDY]`.

Starts `gonn ui` on the workspace (`GONN_HOME`) and writes curves.png (the page that it opens), arms.png, study.png and
report.png of a study: the latest, unless the beginning of an id is given. Needs Chromium with its driver.
"""

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

from scripts.browser import browser, photograph

_SECONDS = 15.0
"""How long a page may take to draw itself."""
_CLOSE_ASSISTANT = """document.querySelector('[data-component-id="mlflow.assistant.chat_panel.close"]')?.click()"""


def take_pictures(folder: Path, study: str | None) -> None:
    """Write the pictures of a study's pages to `folder`."""
    from mlflow import MlflowClient

    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "orchestration.cli", "ui", "--port", str(port)]
    server = subprocess.Popen([*command, *(["--study", study] if study else [])], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = next((line.split()[0] for line in server.stdout if line.startswith("http")), "")
        parts = re.search(r"(.*)/#/experiments/(\d+)/", address)
        if not parts:
            raise SystemExit("gonn ui: no study to show")
        base, experiment = parts[1], parts[2]
        (run,) = MlflowClient(base).search_runs([experiment], "tags.role = 'study'")
        page = f"{base}/#/experiments/{experiment}/runs/{run.info.run_id}"
        pages = {
            "curves.png": address,
            "arms.png": address.replace("trial", "arm").replace("seed", "arm"),
            "study.png": page,
            "report.png": f"{page}/artifacts/report.html",
        }
        for name, url in pages.items():
            with browser(1280, 800) as driver:
                driver.get(url)
                time.sleep(_SECONDS)
                driver.execute_script(_CLOSE_ASSISTANT)
                time.sleep(2)
                photograph(driver, folder / name)
            shrink(folder / name)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def shrink(path: Path) -> None:
    """A picture of a page has few colours: keep as many as it needs to look the same."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
