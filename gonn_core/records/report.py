"""What became of every game of a build."""

from dataclasses import asdict, dataclass, field

from gonn_core.errors import printable

NAMES_KEPT = 5


@dataclass
class Tally:
    """A count and the names of the first few."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str):
        """Count one more; its name is kept, printable, when it is among the first."""
        self.count += 1
        if len(self.names) < NAMES_KEPT:
            self.names.append(printable(name))


@dataclass
class BuildReport:
    """Numbers of a build: `games_read` = `games_used` + all of `skipped`; cut and duplicate games are among those
    used."""

    sources: int = 0
    games_read: int = 0
    games_used: int = 0
    skipped: dict[str, Tally] = field(default_factory=dict)
    ignored: dict[str, Tally] = field(default_factory=dict)
    cut_by_illegal_move: Tally = field(default_factory=Tally)
    cut_by_second_move: Tally = field(default_factory=Tally)
    ladders_capped: Tally = field(default_factory=Tally)
    duplicates: int = 0
    rows: int = 0
    positions: int = 0  # rows with a move to predict: no pass, no handicap move, not the end of a game
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    digest: str = ""

    @property
    def positions_per_second(self) -> float:
        """Positions per second of processor time of the build."""
        return self.positions / self.cpu_seconds if self.cpu_seconds else 0.0

    def to_json(self) -> dict:
        """Plain tree for the manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, tree: dict) -> "BuildReport":
        """Inverse of `to_json`. Raises TypeError, KeyError or AttributeError on another shape."""
        tree = dict(tree)
        for name in ("skipped", "ignored"):
            tree[name] = {why: Tally(**tally) for why, tally in tree[name].items()}
        for name in ("cut_by_illegal_move", "cut_by_second_move", "ladders_capped"):
            tree[name] = Tally(**tree[name])
        return cls(**tree)

    def render_text(self) -> str:
        """Several plain lines, printable."""
        lines = [
            f"store {self.digest}: {self.games_used:,} of {self.games_read:,} games from {self.sources:,} source(s), {self.positions:,} positions "
            f"({self.rows:,} rows), {self.duplicates:,} duplicate(s)",
            f"built in {self.seconds:.1f} s, {self.positions_per_second:,.0f} positions/s of processor time",
        ]
        groups = [(f"skipped, {why}", tally) for why, tally in self.skipped.items()]
        groups += [(f"not read, {why}", tally) for why, tally in self.ignored.items()]
        groups += [
            ("cut before an illegal move", self.cut_by_illegal_move),
            ("cut before a second move in a row", self.cut_by_second_move),
            ("ladder search capped", self.ladders_capped),
        ]
        for what, tally in groups:
            if tally.count:
                more = ", …" if tally.count > len(tally.names) else ""
                lines.append(f"{what}: {tally.count:,} ({', '.join(map(printable, tally.names))}{more})")
        return "\n".join(lines)
