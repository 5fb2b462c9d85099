"""ReLU, or parametric ReLU with one trainable slope per channel (spec: GoNN 2.1, 3.5)."""

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable

from gonn_core.config import NetConfig
from gonn_core.nets.init import constant


def make_slopes(net: NetConfig, channels: int) -> torch.nn.Parameter | None:
    """Slopes (channels,) for negative inputs that `net.activation` asks for; None for plain ReLU."""
    return constant(channels, net.prelu_init) if net.activation == "prelu" else None


def activate(x: torch.Tensor, slopes: torch.Tensor | None) -> torch.Tensor:
    """x where positive, elsewhere slopes * x (0 without slopes), per channel of x (N, C, H, W); of x's type, whatever
    autocast's.

    Torch's own PReLU on a GPU, where its backward pass is the faster one; there a bfloat16 x rounds the slopes and
    their gradient. Operations that a compiler can fuse while it traces.
    """
    if slopes is None:
        return F.relu(x)
    if torch.compiler.is_compiling():
        wide = x.float()
        return torch.where(wide > 0, wide, slopes.view(1, -1, 1, 1) * wide).to(x.dtype)
    with torch.autocast(x.device.type, enabled=False):
        return PReLU.apply(x, slopes) if x.device.type == "cpu" else torch.prelu(x, slopes.to(x.dtype))


class PReLU(torch.autograd.Function):
    """`F.prelu(x, slopes)` with a backward pass that is ten times faster on a CPU.

    PyTorch's backward selects element by element and materialises the slopes' gradient at every point; that would make
    a net with PReLU look twice as expensive as one with ReLU. Here it is four plain passes over memory and one sum. The
    forward pass is PyTorch's. Slopes stay float32 under autocast: x may be bfloat16, their gradient is summed in
    float32.
    """

    @staticmethod
    def forward(ctx, x, slopes):
        ctx.save_for_backward(x, slopes)
        return torch.prelu(x, slopes.to(x.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, slopes = ctx.saved_tensors
        grad_x = torch.ops.aten.threshold_backward(grad, x, 0)  # grad where x > 0, else 0
        negative = grad - grad_x  # grad where x <= 0, else 0
        grad_x.addcmul_(negative, slopes.to(x.dtype).view(1, -1, 1, 1))
        grad_slopes = negative.mul_(x).sum((0, 2, 3), dtype=torch.float32)
        return grad_x, grad_slopes.to(slopes.dtype)
