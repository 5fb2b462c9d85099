"""Pages in headless Chromium, for tests that look at what a person would see; skipped where no browser is."""

from typing import Any

import pytest

from scripts.browser import CHROMIUM, DRIVER, browser, photograph

__all__ = ["browser", "complaints", "needs_browser", "photograph"]

needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium with its driver here; on Debian: apt-get install chromium-driver"
)


def complaints(driver: Any) -> list[str]:
    """What the page wrote to the console as warnings and errors since the last call."""
    return [each["message"] for each in driver.get_log("browser") if each["level"] in ("WARNING", "SEVERE")]
