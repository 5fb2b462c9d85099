"""Plain convolutional nets: go-NN and Clark & Storkey (spec: other systems 1.4, 2.3, 2.4)."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.strict import Strict

Kernel = Annotated[int, Field(ge=1, le=19)]
Width = Annotated[int, Field(ge=1, le=4096)]


class ConvConfig(Strict):
    """Convolutions one after the other, an activation after each, then a head that gives 361 logits."""

    layers: tuple[tuple[Kernel, Width], ...] = ((5, 256), *((3, 256),) * 10)
    """Kernel side and channels of each layer; none: the head sees the planes (a multi-layer perceptron)."""
    head: Literal["conv", "full"] = "conv"
    """conv: a convolution to one channel; full: a fully connected layer to the 361 points."""
    head_kernel: Kernel = 3
    """conv only."""
    head_hidden: tuple[Width, ...] = ()
    """Widths of further layers between the convolutions and the last one: units of full layers, channels of convolutions as wide as the head's."""
    position_bias: Literal["none", "last", "all"] = "none"
    """Where a layer has a bias at each point of the board; elsewhere one a channel."""
    tied: bool = False
    """Kernels, full layers and biases equal under the 8 symmetries, so that f(g x) = g f(x)."""
    hidden_padding: Literal["same", "valid"] = "same"
    """valid: every layer after the first shrinks the board."""
    init: Literal["he", "fan_in", "normal"] = "he"
    """Standard deviation sqrt(2/fan-in), sqrt(1/fan-in), 0.01."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """After every activation."""

    @model_validator(mode="after")
    def _odd_kernels(self):
        if any(kernel % 2 == 0 for kernel, _ in (*self.layers, (self.head_kernel, 1))):
            raise ValueError("kernels have an odd side")
        return self
