"""The `gonn` command: all its verbs, and how a command line ends.

Each verb imports what it needs when it runs, so that help and bad settings answer at once.
"""

import errno
import gc
import os
import sys
from contextlib import suppress

import click

from gonn_core.errors import UserError, printable
from orchestration.cli import data, play, searches, studies, workspace
from orchestration.cli.help import Verbs, add_examples
from orchestration.cli.signals import exit_code, terminable
from orchestration.cli.usage import usage_line

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@click.group(cls=Verbs)
@click.version_option(package_name="go-move-ablations", message="%(prog)s %(version)s")
def gonn():
    """Ablations of Go move-prediction networks: does an enhancement help, by how much, how sure are we, what does it
    cost?"""


for _group in (studies, searches, data, play, workspace):
    for _verb in _group.VERBS:
        gonn.add_command(_verb)
add_examples(gonn)


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code: 0, 1 when a trial failed, 2 for a bad setting (one line on stderr), 130 when
    stopped, 143 by SIGTERM, 129 when its terminal was closed."""
    try:
        with terminable():
            result = gonn.main(args=arguments, prog_name="gonn", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.UsageError as error:
        print(usage_line(error), file=sys.stderr)
        return 2
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        path = printable(str(error.filename or "a file"))
        print(f"{path}: cannot be written ({error.strerror}); the same command goes on from here", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"out of memory ({error or 'MemoryError'}); the same command goes on from here", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        with suppress(OSError):  # the terminal may be gone
            print("stopped; the same command goes on from here", file=sys.stderr)
        return exit_code(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader of a pipe left: nothing more to say
        return 0


def main() -> None:
    """Entry point of `gonn`."""
    code = run(sys.argv[1:])
    gc.freeze()  # or the interpreter would look through all modules once more before it ends: up to a second
    sys.exit(code)


if __name__ == "__main__":
    main()
