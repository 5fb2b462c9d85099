"""What `--help` shows in addition to options: verbs by topic, and examples."""

from collections.abc import Iterator

import click

SECTIONS = {
    "Enhancements": ("list", "show", "check", "new-card"),
    "Studies": ("plan", "ablate", "scale", "evaluate", "probe", "report", "ui"),
    "Learning rates": ("search",),
    "Single nets": ("train", "record", "inspect", "export", "models"),
    "Nets that play": ("gtp", "match", "matches", "play", "elo", "rate"),
    "Games": ("data",),
    "The workspace": ("status", "stop", "import", "sync", "clean"),
    "The machine": ("doctor",),
}
"""Heading -> verbs, as `gonn --help` has them; any others come last."""
EXAMPLES = {
    "": ("gonn list", "gonn plan parametric_relu", "gonn ablate parametric_relu --budget smoke"),
    "ablate": (
        "gonn ablate last_move_input",
        "gonn ablate elu,momentum --data kgs --seeds 8",
        "gonn ablate elu --precision bf16",
    ),
    "clean": ("gonn clean", "gonn clean --yes"),
    "data build": ("gonn data build ~/games",),
    "data fetch": ("gonn data fetch kgs --years 2000-2015 --data-dir ~/archives",),
    "data selfplay": ("gonn data selfplay --games 100 --level 5 --out ~/selfplay",),
    "doctor": ("gonn doctor",),
    "elo": ("gonn elo gonn-b5 --data kgs",),
    "evaluate": ("gonn evaluate parametric_relu-gonn-b5 --history none",),
    "export": ("gonn export 8629c8 net.safetensors",),
    "gtp": ("gonn gtp --model 8629c8", "gonn gtp --model 8629c8 --choice argmax --guard gnugo:5"),
    "import": ("gonn import ~/from-the-cluster",),
    "inspect": ("gonn inspect 8629c8",),
    "list": ("gonn list head", "gonn list lczero loss", "gonn list --find ladder", "gonn list --bases"),
    "match": ("gonn match 8629c8 gnugo:1 --games 16", "gonn match 8629c8,choice=argmax 7ea441"),
    "models": ("gonn models gonn-b5",),
    "new-card": (
        'gonn new-card point_head --system gonn --title "1x1 last convolution" \\\n'
        "      --setting net.head.kernel --off 5 --on 1",
    ),
    "plan": (
        "gonn plan parametric_relu --budget smoke",
        "gonn plan elu,momentum --seeds 8",
        "gonn plan elu --budget gpu",
    ),
    "play": ("gonn play parametric_relu-gonn-b5 --games 20",),
    "probe": ("gonn probe ladder_input-gonn-b5", "gonn probe 8629c8 --no-boards"),
    "record": ("gonn record recipe.yaml --keep row.json", "gonn record row.json --verify"),
    "report": ("gonn report", "gonn report parametric_relu-gonn-b5"),
    "scale": ("gonn scale gonn-b5 --samples 25k,50k,100k",),
    "search run": ("gonn search run gonn-b5 --trials 16", "gonn search run elu --arm off"),
    "show": ("gonn show parametric_relu",),
    "train": ("gonn train gonn-b5 --budget smoke --set net.activation=relu",),
    "ui": ("gonn ui --port 5001",),
}
"""Verb, or group and verb -> commands with arguments. Studies, searches and trials may be named by their beginnings."""


class Verbs(click.Group):
    """A group whose help lists its verbs by section."""

    def format_commands(self, ctx, formatter):
        """Write a list for each section, as far as it has verbs."""
        rows = {name: self.commands[name].get_short_help_str(limit=100) for name in self.list_commands(ctx)}
        width = max(map(len, rows))
        sectioned = {name for names in SECTIONS.values() for name in names}
        for title, names in {**SECTIONS, "Others": tuple(set(rows) - sectioned)}.items():
            if lines := [(name.ljust(width), rows[name]) for name in names if name in rows]:
                with formatter.section(title):
                    formatter.write_dl(lines)


def all_commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every verb and group below a command, with its name as it is typed; itself first."""
    yield path, command
    if isinstance(command, click.Group):
        for name, verb in command.commands.items():
            yield from all_commands(verb, f"{path} {name}".strip())


def add_examples(command: click.Command) -> None:
    """Have the help of a command, and of all below it, end with its examples."""
    for path, verb in all_commands(command):
        if examples := EXAMPLES.get(path):
            lines = "\n".join(examples).split("\n")
            verb.epilog = "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in lines)])
