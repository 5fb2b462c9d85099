"""Pages in headless Chromium: for pictures, and for tests that look at what a person would see."""

import base64
import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@contextlib.contextmanager
def browser(width: int = 1280, height: int = 900) -> Iterator[Any]:
    """A selenium driver of headless Chromium whose window is `width` x `height` CSS pixels; ended with the block."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER or ""))
    try:
        # The window's smallest width is some 500 pixels; the emulated screen may be narrower.
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        yield driver
    finally:
        driver.quit()


def photograph(driver: Any, path: Path, whole_page: bool = False) -> None:
    """Write a PNG of what is seen, or of the whole page."""
    answer = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole_page})
    path.write_bytes(base64.b64decode(answer["data"]))
