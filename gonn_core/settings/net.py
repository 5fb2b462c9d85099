"""A net: its family, and that family's settings."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.conv_net import ConvConfig
from gonn_core.settings.encoder_net import EncoderConfig
from gonn_core.settings.gonn_net import HeadConfig, StemConfig, TrunkConfig
from gonn_core.settings.residual_net import ResidualConfig
from gonn_core.settings.strict import Strict

ACTIVATIONS = {"gonn": ("relu", "prelu"), "conv": ("relu", "elu", "tanh"), "residual": ("relu",), "encoder": ("relu",)}
"""Family -> activations that `net.activation` can name there."""
_PARTS = {
    "gonn": ("prelu_init", "norm", "norm_gamma", "stem", "trunk", "head"),
    "conv": ("conv",),
    "residual": ("residual",),
    "encoder": ("encoder",),
}


class NetConfig(Strict):
    """A net. The defaults are each family's bare net: an enhancement is what a base or a card turns on."""

    family: Literal["gonn", "conv", "residual", "encoder"] = "gonn"
    activation: Literal["relu", "prelu", "elu", "tanh"] = "relu"
    prelu_init: Annotated[float, Field(ge=-1, le=1)] = 0.0
    norm: Literal["batch", "none"] = "batch"
    """none: the gonn family without batch normalisation; the trainable scale, if there is one, and the shift stay."""
    norm_gamma: bool = False
    """Trainable scale in the batch normalisation of the gonn family."""
    stem: StemConfig = StemConfig()
    trunk: TrunkConfig = TrunkConfig()
    head: HeadConfig = HeadConfig()
    conv: ConvConfig = ConvConfig()
    residual: ResidualConfig = ResidualConfig()
    encoder: EncoderConfig = EncoderConfig()

    @model_validator(mode="after")
    def _of_one_family(self):
        """What another family reads must not be set: it would change the identity and nothing else."""
        if self.activation not in ACTIVATIONS[self.family]:
            raise ValueError(
                f"family {self.family} takes activation {' or '.join(ACTIVATIONS[self.family])} (not {self.activation})"
            )
        for family, parts in _PARTS.items():
            for part in parts:
                if family != self.family and getattr(self, part) != type(self).model_fields[part].default:
                    raise ValueError(f"{part} is of family {family}, not of {self.family}")
        if self.stem.width is not None and self.trunk.order != "plain":
            raise ValueError("stem.width: only a plain trunk (trunk.order) can begin with a width of its own")
        return self
