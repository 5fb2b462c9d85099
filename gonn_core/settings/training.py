"""How long and how a net is trained."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.strict import Strict

Weight = Annotated[float, Field(ge=0, le=100)]


class OptimiserConfig(Strict):
    """Stochastic gradient descent (GoNN 4.1, 4.2); rates are for a loss averaged over the batch."""

    kind: Literal["sgd", "adamw"] = "sgd"
    """adamw: betas 0.9 and 0.999, decoupled weight decay; momentum and nesterov must stay at their defaults."""
    learning_rate: Annotated[float, Field(gt=0, le=100)] = 0.064
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    nesterov: bool = True
    weight_decay_rows: Annotated[float, Field(ge=0)] = 0.3
    """L2 coefficient times training rows: c = this / max(1000, rows of the view); on kernels, matrices and PReLU
    slopes."""
    center_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Learning-rate factor of the centre tap of 3x3 kernels in the blocks (GoNN 2.6: 1.5)."""
    head_factor: Annotated[float, Field(gt=0, le=10)] = 0.25
    """Learning-rate factor of the head's last normalisation and last convolution."""
    clip_norm: Annotated[float, Field(ge=0)] = 0.0
    """Largest norm of all gradients together, before decay and factors; 0: not clipped (the fork: 1.0; spec: other
    systems 3.2)."""

    @model_validator(mode="after")
    def _nesterov_needs_momentum(self):
        if self.nesterov and self.momentum == 0:
            raise ValueError("nesterov needs momentum above 0")
        if self.kind == "adamw" and (self.momentum, self.nesterov) != (0.9, True):
            raise ValueError("adamw has no momentum or nesterov to set")
        return self


class ScheduleConfig(Strict):
    """Learning rate over samples."""

    kind: Literal["gonn", "linear", "constant", "half_life", "steps", "stall_halving"] = "gonn"
    """gonn: 1/((k+8)/8)^2, k drops by one every 4M samples after 5M (GoNN 4.1); linear: to 0 at the last sample;
    half_life: halved at every `half_life_share` of the samples; steps: as `steps` says; stall_halving: halved whenever
    the mean training loss of a window of `stall_window` samples is above that of the window before (Cazenave 2017)."""
    compression: Annotated[float, Field(gt=0)] = 1.0
    """gonn only: published samples that pass per sample trained, so that a small budget ends where the published run
    ended."""
    warmup: Annotated[int, Field(ge=0)] = 0
    """Samples over which the rate rises linearly from 0."""
    half_life_share: Annotated[float, Field(gt=0)] = 0.25
    steps: tuple[tuple[Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(gt=0, le=1)]], ...] = ()
    """(share of the samples, factor of the first rate from there on), in rising order."""
    stall_window: Annotated[int, Field(ge=1)] = 5_000_000
    """Samples; rounded up to whole batches."""
    final_drop: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Factor of the rate over the last 5 % of the samples, whatever the kind (go-NN: 0.1)."""

    @model_validator(mode="after")
    def _fields_of_its_kind(self):
        starts = [start for start, _ in self.steps]
        if starts != sorted(set(starts)):
            raise ValueError("steps go in rising order")
        if (self.kind == "steps") != bool(self.steps):
            raise ValueError("kind steps needs steps, and no other kind has them")
        return self


class AuxiliaryConfig(Strict):
    """Weights of further losses beside the policy's; 0: neither loss nor head is there (spec: GoNN 3.3, other systems
    3.8)."""

    ladders: Weight = 0.0
    """Stones of chains that a ladder catches (GoNN: 0.06)."""
    next_occupant: Weight = 0.0
    """Per point: the colour of the next stone to come there."""
    removal_time: Weight = 0.0
    """Per stone: opponent's turns until it is captured, in bins."""
    opponent_reply: Weight = 0.0
    joint_reply: Weight = 0.0
    """Opponent's reply given the move played."""
    ownership: Weight = 0.0
    """Per point: whose it is at the end, of games that were counted."""
    value: Weight = 0.0
    moves_left: Weight = 0.0


class AveragingConfig(Strict):
    """Weights averaged along training: what is evaluated and kept in snapshots (spec: other systems 3.2)."""

    every: Annotated[int, Field(ge=0)] = 0
    """Steps between the weights that enter the average; 0: no averaging (the fork: 100)."""
    window: Annotated[int, Field(ge=2, le=1000)] = 10
    """The average is (n old + newest)/(n + 1), n the weights that entered before, this at most (as the fork counts)."""


class TrainingConfig(Strict):
    """How long and how a net is trained."""

    samples: Annotated[int, Field(ge=1)] = 5_000_000
    batch_size: Annotated[int, Field(ge=2, le=65536)] = 200
    loss: Literal["cross_entropy", "squared_error"] = "cross_entropy"
    """squared_error: sum over points of (softmax - one-hot)^2, mean over batch and output planes (spec: GoNN 4.4, other
    systems 4.4)."""
    loss_from: Annotated[int, Field(ge=0)] = 0
    """Samples after which a loss other than cross-entropy takes its place."""
    policy_weight: Weight = 1.0
    """0: the net learns its auxiliary target alone."""
    plane_weights: Literal["mean", "sum", "harmonic"] = "mean"
    """Of several output planes' losses: 1/k each, 1 each, 1, 1/2, 1/3 (spec: other systems 4.4)."""
    mask_illegal: bool = False
    """Softmax over empty points but the ko point (spec: other systems 2.5)."""
    auxiliary: AuxiliaryConfig = AuxiliaryConfig()
    averaging: AveragingConfig = AveragingConfig()
    batch_splits: Annotated[int, Field(ge=1, le=1024)] = 1
    """Parts of a batch whose gradients are added up before the step: less memory, the same step."""
    optimiser: OptimiserConfig = OptimiserConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    precision: Literal["fp32", "bf16"] = "fp32"
    """bf16: autocast of the forward pass; weights, optimiser and loss stay fp32."""
    init_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    data_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @model_validator(mode="after")
    def _whole_batches(self):
        if self.samples % self.batch_size:
            raise ValueError(f"samples must be a multiple of batch_size ({self.batch_size})")
        if self.schedule.warmup > self.samples:
            raise ValueError("schedule.warmup must not exceed samples")
        if self.batch_size % self.batch_splits:
            raise ValueError(f"batch_size must be a multiple of batch_splits ({self.batch_splits})")
        if self.policy_weight == 0 and not any(self.auxiliary.model_dump().values()):
            raise ValueError("policy_weight 0 needs an auxiliary loss to learn")
        if self.loss_from and self.loss == "cross_entropy":
            raise ValueError("loss_from needs a loss other than cross_entropy")
        return self
