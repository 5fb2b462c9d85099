"""The training view of each arm of a study, made from the filters that its cards set."""

from collections.abc import Sequence

from ablations.data.datasets import PreparedData, training_view
from ablations.data.game_filters import with_view
from ablations.study import Arm
from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError
from gonn_core.records.views import View


def on_their_views(arms: tuple[Arm, ...], prepared: PreparedData) -> tuple[tuple[Arm, ...], dict[str, View]]:
    """The arms on the training views that their filters make, and those views by arm.

    Raises UserError for a view without positions, and where two arms come out as the same trial: nothing to compare in
    these games.
    """
    views = {arm.id: training_view(prepared, arm.config.data.games) for arm in arms}
    placed = tuple(arm.model_copy(update={"config": with_view(arm.config, views[arm.id].digest)}) for arm in arms)
    seen: dict[TrialConfig, Arm] = {}
    for arm in placed:
        twin = seen.setdefault(effective(arm.config), arm)
        if twin is not arm:
            both = f"arms {twin.id} and {arm.id} train on the same {views[arm.id].n:,} positions"
            raise SettingError("DATA", prepared.dataset.label, both, "a data set with games that the filter leaves out")
    return placed, views


def coverage_of(prepared: PreparedData, arms: Sequence[Arm], training: dict[str, View]) -> str:
    """What is trained on, with the number of positions of each arm where these differ."""
    if len({view.digest for view in training.values()}) == 1:
        return prepared.coverage
    return (
        f"{prepared.coverage}; training positions: {', '.join(f'{arm.label} {training[arm.id].n:,}' for arm in arms)}"
    )
