"""Where things lie, whatever folder a test stands in."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The repository."""
FIXTURES = ROOT / "tests" / "fixtures"
SHARED = ROOT.parent / "shared"
"""Real games and oracles that are no part of the repository; tests that need them are skipped without."""
FAKE_ENGINE = ROOT / "tests" / "play" / "engines" / "fake_engine.py"
"""A GTP engine for tests, as a script."""
