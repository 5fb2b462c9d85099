"""What all tests start from."""

import ctypes
import gc
import os
import platform
import signal

import hypothesis
import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background jobs ignore Ctrl-C and their children inherit that; tests that send it to a child need the
    # ordinary way.
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "600")  # a busy machine takes its time to start a cluster
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a process per core: threads would only wait for each other

os.fsync = lambda descriptor: None  # files of tests need not outlive a loss of power; a suite writes tens of thousands
hypothesis.settings.register_profile("same_each_time", derandomize=True, deadline=None)
hypothesis.settings.load_profile("same_each_time")


def pytest_xdist_auto_num_workers(config):
    """A process per core, four at most: each imports torch and compiles kernels of its own the first time."""
    return min(len(os.sched_getaffinity(0)), 4)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tests marked `cards` take half an hour: they run only when asked for (`make test-cards`), whatever else
    is selected."""
    if "cards" not in (config.option.markexpr or ""):
        left_out = [item for item in items if item.get_closest_marker("cards")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish(session):
    """What was imported stays: the garbage collector need not look through it again and again."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def memory_given_back():
    """Trials tell malloc to keep what they free, for their next step; a process of many tests gives it back after each
    module."""
    yield
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


DRAWN = (
    "tests.reports.figures", "tests.reports.html", "tests.reports.frames.test_notebooks", "tests.reports.test_example",
    "tests.orchestration.study.test_probe", "tests.trial.test_probe_answers",
)  # fmt: skip
"""Tests that look at figures."""


@pytest.fixture(autouse=True, scope="module")
def figures_left_blank(request):
    """Drawing takes a second a figure, and most tests of reports look at none."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.startswith(DRAWN):
            patch.setattr("matplotlib.figure.Figure.savefig", lambda figure, file, **options: file.write(b"blank"))
        yield
