"""Versions of the numbers that a trial computes; part of every trial's id.

Raise one when results change for an unchanged configuration (a bug fix in a plane, another initialisation, another order of
operations in the optimiser), in the same commit, with a word on why. A golden test per package fails when numbers change while
the version did not. Then no result of the old code is ever taken for one of the new.
"""

FEATURES = 1
"""Planes, targets, symmetries, sampler: what a batch holds."""

NETS = 1
"""Structure, initial weights and forward pass of the nets."""

TRAINING = 1
"""Loss, optimiser, schedule: what a step does with a batch."""


def versions() -> dict[str, int]:
    """The three versions by name."""
    return {"features": FEATURES, "nets": NETS, "training": TRAINING}
