"""The auxiliary heads of a trial's net: those that have a weight, under `net.auxiliary`."""

from collections.abc import Callable
from typing import cast

import torch
from torch import nn

from gonn_core.config import TrialConfig
from gonn_core.nets.auxiliary import heads
from gonn_core.nets.init import Draws

HEADS: dict[str, Callable[..., heads.AuxiliaryHead]] = {
    "ladders": heads.Ladders,
    "next_occupant": heads.NextOccupant,
    "removal_time": heads.RemovalTime,
    "opponent_reply": heads.OpponentReply,
    "joint_reply": heads.JointReply,
    "ownership": heads.Ownership,
    "value": heads.Value,
    "moves_left": heads.MovesLeft,
    "moves_left_class": heads.MovesLeftClass,
    "score": heads.Score,
}
"""Field of `training.auxiliary` -> class of the head, made from (draws, name, body width, gamma in its norm)."""


class AuxiliaryHeads(nn.ModuleDict):
    """Heads by name, parameters `auxiliary.<name>.…`. Off means absent: no weights that decay, nothing in the
    checkpoint."""

    def __init__(self, config: TrialConfig, body_width: int, draws: Draws):
        weights = config.training.auxiliary.model_dump()
        gamma = config.net.norm_gamma
        super().__init__(
            {name: make(draws, f"auxiliary.{name}", body_width, gamma) for name, make in HEADS.items() if weights[name]}
        )

    def losses(self, body: torch.Tensor, policies: torch.Tensor, batch) -> dict[str, heads.HeadLoss]:
        """Name -> loss, float32 and not weighted, of each head on a batch: body (N, W, 19, 19), with `targets` and
        `extras`.

        policies (N, K, 361) are not read by any head so far: replies are asked of the move played, not of the one
        expected.
        """
        return {name: cast(heads.AuxiliaryHead, head).judged(body, batch) for name, head in self.items()}

    @property
    def answering(self) -> tuple[str, ...]:
        """Names of the heads that have an accuracy."""
        return tuple(name for name, head in self.items() if cast(heads.AuxiliaryHead, head).answers)


def wants_heads(config: TrialConfig) -> bool:
    """Whether any auxiliary loss has a weight."""
    return any(config.training.auxiliary.model_dump().values())
