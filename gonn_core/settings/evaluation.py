"""How a trial's policy is read when it is evaluated."""

from typing import Literal

from gonn_core.settings.strict import Strict

HistoryMode = Literal["full", "as_published", "none"]
"""`full`: all of the last five moves; `as_published`: GoNN's test rows lost moves at random, once, with the
probabilities of training rows (spec: GoNN 0.6, 1.3); `none`: no earlier move at all, in whatever planes a net has for
them ("play well without history", GoNN: Some Thoughts About History as an Input)."""


class EvaluationConfig(Strict):
    """Part of what is compared: with it an arm is another trial, trained in the same way."""

    symmetry_averaging: bool = False
    """Mean of the logits over the 8 symmetries of the position (spec: other systems 1.7)."""
    legal_only: bool = False
    """Softmax over empty points but the ko point, as Clark & Storkey test (spec: other systems 2.5, 2.7)."""
