"""How a net's policy is read when it is evaluated: averaged over the symmetries or not, over all points or the legal
ones; and how much history the net is shown."""

from typing import NamedTuple

from gonn_core.go.points import SYMMETRY


class Reading(NamedTuple):
    """symmetry_averaging: mean of the logits over the 8 symmetries of the position, turned back (spec: other systems
    1.7).

    legal_only: softmax and rank over empty points but the simple-ko point (spec: other systems 2.5, 2.7). Suicide stays
    among them: neither document asks for more.
    """

    symmetry_averaging: bool = False
    legal_only: bool = False

    @property
    def symmetries(self) -> range:
        """Symmetries under which the net sees a position; 0 is the identity."""
        return range(len(SYMMETRY) if self.symmetry_averaging else 1)


PLAIN = Reading()
"""One forward pass, softmax over all 361 points."""
