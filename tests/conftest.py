"""What all tests start from."""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background jobs ignore Ctrl-C and their children inherit that; tests that send it to a child need the ordinary way.
    signal.signal(signal.SIGINT, signal.default_int_handler)
