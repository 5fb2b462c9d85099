"""Versions of the numbers that a trial computes; part of its id, those of bf16 and of biases where they matter.

Raise one when results change for an unchanged configuration (a bug fix in a plane, another initialisation, another
order of operations in the optimiser), in the same commit, with a word on why. A golden test per package fails when
numbers change while the version did not. Then no result of the old code is ever taken for one of the new.
"""

FEATURES = 1
"""Planes, targets, symmetries, sampler: what a batch holds."""

NETS = 1
"""Structure, initial weights and forward pass of the nets."""

TRAINING = 1
"""Loss, optimiser, schedule: what a step does with a batch."""

BF16 = 1
"""What a step of `training.precision: bf16` rounds to bfloat16. Earlier trials have no such number and round otherwise:
in between norm and activation, in layer norm and PReLU as autocast's lists for the device had them."""

BIASES = {"golois": 1, "darkforest": 1}
"""Blocks of Cazenave's nets that have biases in addition to their norms; trials before this number had none."""

STORE_RULES = "0c3833c697c4b2b557b9dc857969c37d9a4572fab6a8c508096e314bc2b385bd"
"""What a position store holds of an archive: how games are read, replayed and laid out. A store is found again under
this name.

The first name is a hash of the sources of version 0.1, which every store that was made with it is indexed by; a later
one may be any text. `tests/records/test_store_rules.py` fails when those sources say something else than they did under
this name.
"""


def versions(precision: str = "fp32", block: str = "") -> dict[str, int]:
    """The versions that a trial of this `training.precision` depends on, by name; block: `net.residual.block` of a
    residual net."""
    found = {"features": FEATURES, "nets": NETS, "training": TRAINING}
    if precision == "bf16":
        found["bf16"] = BF16
    return found | ({"biases": BIASES[block]} if block in BIASES else {})
