"""What all tests start from."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background jobs ignore Ctrl-C and their children inherit that; tests that send it to a child need the ordinary way.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Tests marked `cards` take a quarter of an hour: they run only when asked for (`make test-cards`), whatever else is selected."""
    if "cards" not in (config.option.markexpr or ""):
        left_out = [item for item in items if item.get_closest_marker("cards")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)
