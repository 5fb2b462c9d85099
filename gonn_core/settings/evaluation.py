"""How a trial's policy is read when it is evaluated."""

from gonn_core.settings.strict import Strict


class EvaluationConfig(Strict):
    """Part of what is compared: with it an arm is another trial, trained in the same way."""

    symmetry_averaging: bool = False
    """Mean of the logits over the 8 symmetries of the position (spec: other systems 1.7)."""
    legal_only: bool = False
    """Softmax over empty points but the ko point, as Clark & Storkey test (spec: other systems 2.5, 2.7)."""
