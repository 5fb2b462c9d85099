"""Pictures of a study's report for docs/tutorial.md: `python -m scripts.report_pictures REPORT.html FOLDER`.

Writes report.png, the top of the page, and curves.png. Needs Chromium with its driver.
"""

import sys
import time
from pathlib import Path

from PIL import Image

from scripts.browser import browser, photograph
from scripts.mlflow_pictures import shrink

WIDTH, HEIGHT, CHART_HEIGHT = 1000, 640, 460
_TO_CURVES = "[...document.querySelectorAll('h2')].find(title => title.textContent === 'Curves').scrollIntoView()"


def take_pictures(page: Path, folder: Path) -> None:
    """Write both pictures of `page` to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser(WIDTH, HEIGHT) as driver:
        driver.get(page.resolve().as_uri())
        for name, script, height in (("report.png", "", HEIGHT), ("curves.png", _TO_CURVES, CHART_HEIGHT)):
            driver.execute_script(script)
            time.sleep(1)  # the page scrolls smoothly
            photograph(driver, folder / name)
            with Image.open(folder / name) as picture:
                cropped = picture.crop((0, 0, WIDTH, height))
            cropped.save(folder / name)
            shrink(folder / name)


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]), Path(sys.argv[2]))
