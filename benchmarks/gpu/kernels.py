"""What kind of work a kernel of a GPU or an operation on a CPU is, told by its name."""

import re

CLASSES = (
    "convolution and matrix",
    "norm",
    "activation and element-wise",
    "reduction",
    "copy and cast",
    "optimiser",
    "other",
)

_CUDA = (
    (
        "copy and cast",
        r"memcpy|memset|nchwtonhwc|nhwctonchw|direct_copy|float16_copy|catarray|transpose|copy_kernel|fillfunctor",
    ),
    ("optimiser", r"multi_tensor_apply|foreach"),
    ("norm", r"batch_?norm|\bbn_|_bn_|layer_?norm|welford|gamma_?beta"),
    (
        "convolution and matrix",
        r"gemm|gemv|conv|xmma|cutlass|wgrad|dgrad|fprop|nvjet|flash|fmha|splitk|winograd|attention|cudnn",
    ),
    ("reduction", r"reduce|softmax|nll_loss|max_pool|scan|cumsum|triton_red|triton_per|sort|topk"),
    (
        "activation and element-wise",
        r"elementwise|prelu|relu|elu_|sigmoid|tanh|gelu|silu|triton_poi|dropout|index|gather|scatter",
    ),
)
"""In this order: names tell more than one kind (`cudnn::bn_bw`)."""
_CPU = (
    ("optimiser", r"optimizer\.|_foreach|_fused_(sgd|adam)"),
    ("norm", r"norm"),
    (
        "convolution and matrix",
        r"conv|(mm|bmm|addmm|baddbmm|matmul|linear|mv|addmv)(backward\d?)?$|dot_product|flash_attention",
    ),
    (
        "copy and cast",
        r"::(copy_|_to_copy|to|clone|contiguous|cat|stack|constant_pad_nd|fill_|zero_|zeros|ones|full)$|copybackward|"
        r"::(slice|select)_backward$|catbackward",
    ),
    (
        "reduction",
        r"::(sum|mean|amax|amin|max|min|logsumexp|_?log_softmax\w*|_?softmax\w*|nll_loss\w*|var|std|any|all|argmax)$|"
        r"::(cumsum|_softmax_backward_data|_log_softmax_backward_data)$",
    ),
    (
        "activation and element-wise",
        r"prelu|relu|elu|sigmoid|tanh|gelu|silu|backward\d?$|::(add|sub|mul|div|where|neg|exp|log|pow|r?sqrt)_?$|"
        r"::(gt|lt|eq|ge|le|ne|threshold\w*|clamp\w*|lerp|addcmul|addcdiv|bitwise\w*|__\w+|index\w*|gather\w*)_?$|"
        r"::(scatter\w*|masked_fill|rsub|logical\w*|isfinite)_?$",
    ),
)


def kind_of_kernel(name: str) -> str:
    """One of CLASSES, for a kernel of a GPU."""
    return _kind(name.lower(), _CUDA)


def kind_of_operation(name: str) -> str:
    """One of CLASSES, for an operation of torch or of this project on a CPU."""
    return _kind(name.lower(), _CPU)


def _kind(name: str, patterns) -> str:
    return next((kind for kind, pattern in patterns if re.search(pattern, name)), "other")
