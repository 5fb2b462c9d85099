"""`python -m gonn_core.records recipe.json --games FOLDER`: make the store and views of a recipe on any machine."""

import argparse
import sys
from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.records.recipe import follow, read_recipe


def main(arguments: list[str] | None = None) -> int:
    """Prints the store's folder; exit code 2 and one line for an error that the user can put right."""
    parser = argparse.ArgumentParser(
        prog="python -m gonn_core.records", description="Make the position store and views that a recipe describes."
    )
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--games", type=Path, required=True, help="folder with the archives, at any depth")
    parser.add_argument("--stores", type=Path, default=Path("stores"), help="where the store goes (default: stores)")
    options = parser.parse_args(arguments)
    try:
        store = follow(read_recipe(options.recipe), options.games, options.stores)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(store.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
