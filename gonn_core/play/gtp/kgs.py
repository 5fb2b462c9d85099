"""What the bridge to the KGS server asks beyond the standard: rules, clocks, cleaning up after a dispute, the end."""

from gonn_core.play.gtp.parsing import GtpError, colour, number
from gonn_core.play.gtp.server import Verb
from gonn_core.play.gtp.session import GtpSession, move_name

_CLOCKS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of time and how many numbers each has."""
_RULES = ("chinese", "aga", "new_zealand")
"""Sets of rules of the server that count area, as this engine does."""


def kgs_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `kgs-rules`, `kgs-time_settings`, `kgs-genmove_cleanup` and `kgs-game_over`."""

    def rules(name: str) -> str:
        if name.lower() not in _RULES:
            raise GtpError(f"rules that are not counted here; valid: {', '.join(_RULES)}")
        return ""

    def time_settings(system: str, *numbers: str) -> str:
        if len(numbers) != _CLOCKS.get(system.lower()):
            raise GtpError("syntax error")
        for value in numbers:
            number(value)
        return ""

    def genmove_cleanup(color: str) -> str:
        return move_name(session.move(colour(color), cleanup=True))

    return {
        "kgs-rules": Verb("RULES", rules),
        "kgs-time_settings": Verb("SYSTEM [NUMBER] [NUMBER] [NUMBER]", time_settings),
        "kgs-genmove_cleanup": Verb("COLOR", genmove_cleanup),
        "kgs-game_over": Verb("", str),
    }
