"""Filters of the training games as toggles: what a data set's own filter says in their terms, and a configuration's
view made from them.

A card names `data.games.*`; a study fills what the card toggles from the data set, designs its arms, and gives each of
them the digest of the training view that its filters make. So a trial's identity is that of its positions, and an arm
with the data set's own filter is the ordinary control.
"""

from collections.abc import Iterable

from ablations.data.schema import FilterDeclaration
from gonn_core.config import TrialConfig, with_values
from gonn_core.settings.data import GamesConfig

EVERYTHING = GamesConfig(
    min_rank=-30,
    min_opponent_rank=-30,
    max_handicap=361,
    drop_illegal=False,
    drop_corrupt=False,
    min_year=0,
    ignore_amateurs=False,
)
"""Every filter at the value that lets all games and all movers through."""
PREFIX = "data.games."


def own_games(declared: FilterDeclaration) -> GamesConfig:
    """A data set's own filter; where it has no condition, the value of EVERYTHING."""
    given = {name: getattr(declared, name) for name in GamesConfig.model_fields}
    return EVERYTHING.model_copy(update={name: value for name, value in given.items() if value is not None})


def filters_of(cards: Iterable) -> set[str]:
    """Names of the filters that cards (objects with toggles) toggle."""
    return {path.removeprefix(PREFIX) for card in cards for path in card.toggles if path.startswith(PREFIX)}


def filled(config: TrialConfig, cards: Iterable, own: GamesConfig = EVERYTHING) -> TrialConfig:
    """`config` with the filters that cards toggle at a data set's own values, where it leaves them unset."""
    unset = {name for name in filters_of(cards) if getattr(config.data.games, name) is None}
    return with_values(config, {PREFIX + name: getattr(own, name) for name in unset}) if unset else config


def with_view(config: TrialConfig, digest: str) -> TrialConfig:
    """`config` on the training view of that digest, its filters taken out: what a trial is."""
    return with_values(config, {"data.view": digest, **{PREFIX + name: None for name in GamesConfig.model_fields}})
