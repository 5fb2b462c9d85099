"""`python -m gonn_core.records recipe.json --games FOLDER`: make the store and views of a recipe on any machine."""

import argparse
import sys
import time
from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.records.recipe import follow, read_recipe

LINE_SECONDS = 5.0


def main(arguments: list[str] | None = None) -> int:
    """Prints the store's folder; exit code 2 and one line for an error that the user can put right."""
    parser = argparse.ArgumentParser(
        prog="python -m gonn_core.records", description="Make the position store and views that a recipe describes."
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--games", type=Path, required=True, help="folder with the archives, at any depth")
    parser.add_argument("--stores", type=Path, default=Path("stores"), help="where the store goes (default: stores)")
    options = parser.parse_args(arguments)
    last = time.monotonic()

    def progress(state) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            print(
                f"{state.source}: {state.games:,} games, {state.rows:,} positions, {100 * state.fraction:.0f} %",
                file=sys.stderr,
                flush=True,
            )

    try:
        store = follow(read_recipe(options.recipe), options.games, options.stores, progress)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(store.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
