"""How long and how a net is trained."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.strict import Strict

Weight = Annotated[float, Field(ge=0, le=100)]
Precision = Literal["fp32", "bf16"]
WeightsDigest = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


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
    weight_decay: Annotated[float, Field(ge=0, le=1)] = 0.0
    """L2 coefficient that no number of rows divides, added to that one (GoNN in April 2018: 0.00003, and none by
    rows)."""
    center_factor: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Learning-rate factor of the centre tap of 3x3 kernels in the blocks (GoNN 2.6: 1.5)."""
    head_factor: Annotated[float, Field(gt=0, le=10)] = 0.25
    """Learning-rate factor of the head's last normalisation and last convolution (GoNN: 0.25 from 2018-01-21 on, none
    before)."""
    shift_factor: Annotated[float, Field(gt=0, le=100)] = 1.0
    """Learning-rate factor of the norms' shifts, the head's apart (airbench: 64)."""
    hidden: Literal["same", "muon"] = "same"
    """muon: the kernels and matrices between stem and head take orthogonal steps; all else is as `kind` says."""
    muon_factor: Annotated[float, Field(gt=0, le=100)] = 0.1
    """Their learning rate by the others'."""
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

    @model_validator(mode="after")
    def _factor_of_muon(self):
        if self.hidden != "muon" and self.muon_factor != 0.1:
            raise ValueError("muon_factor needs hidden muon")
        return self


DROP_FIELDS = ("exponent", "offset", "first_drop", "drop_every")
"""Fields of the kind gonn; no other kind has them."""


class ScheduleConfig(Strict):
    """Learning rate over samples."""

    kind: Literal["gonn", "knots", "linear", "constant", "half_life", "steps", "stall_halving"] = "gonn"
    """gonn: 1/((k + offset)/offset)^exponent after k drops (GoNN 4.1); knots: as `knots` says, by samples; linear: to 0
    at the last sample; half_life: halved at every `half_life_share` of the samples; steps: as `steps` says, by shares
    of the samples; stall_halving: halved whenever the mean training loss of a window of `stall_window` samples is above
    that of the window before (Cazenave 2017)."""
    compression: Annotated[float, Field(gt=0)] = 1.0
    """gonn and knots: published samples that pass per sample trained, so that a small budget ends where the published
    run ended."""
    exponent: Annotated[int, Field(ge=1, le=16)] = 2
    """gonn: 2 from 2018-03-06 on, 4 before."""
    offset: Annotated[int, Field(ge=1, le=1000)] = 8
    """gonn: with exponent 4 it was 14 until 2018-02-24, then 18."""
    first_drop: Annotated[int, Field(ge=1)] = 5_000_000
    """gonn: published samples before the first drop; 4.5M while an epoch was half a million."""
    drop_every: Annotated[int, Field(ge=1)] = 4_000_000
    """gonn: published samples between later drops."""
    knots: tuple[tuple[Annotated[int, Field(ge=0)], Annotated[float, Field(gt=0, le=1)]], ...] = ()
    """knots: (published samples, factor of the first rate there), rising from 0 samples, at least two; between them and
    past the last one the rate's logarithm goes along straight lines."""
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
        if (self.kind == "knots") != bool(self.knots):
            raise ValueError("kind knots needs knots, and no other kind has them")
        at = [samples for samples, _ in self.knots]
        if self.knots and (len(at) < 2 or at[0] != 0 or at != sorted(set(at))):
            raise ValueError("knots begin at 0 samples, go in rising order and are two or more")
        if self.kind != "gonn" and any(
            getattr(self, name) != type(self).model_fields[name].default for name in DROP_FIELDS
        ):
            raise ValueError(f"{', '.join(DROP_FIELDS)} are of kind gonn, not of {self.kind}")
        return self


class AuxiliaryConfig(Strict):
    """Weights of further losses next to the policy's; 0: there is no such loss or head (spec: GoNN 3.3, other systems
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
    moves_left_class: Weight = 0.0
    """The same as one of 20 classes."""
    score: Weight = 0.0
    """A distribution over the margin of games that were counted."""


class AveragingConfig(Strict):
    """Weights averaged along training: what is evaluated and kept in snapshots (spec: other systems 3.2)."""

    every: Annotated[int, Field(ge=0)] = 0
    """Steps between the weights that enter the average; 0: no averaging (the fork: 100)."""
    window: Annotated[int, Field(ge=2, le=1000)] = 10
    """The average is (n old + newest)/(n + 1), n the weights that entered before, this at most (as the fork counts)."""


class LookaheadConfig(Strict):
    """Weights that follow the trained ones and take their place: every so many steps both go to the point that lies
    `share` of the way from the slow to the fast ones (KataGo: 6 steps, 0.5)."""

    every: Annotated[int, Field(ge=0)] = 0
    """Steps; 0: none."""
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5


class TrainingConfig(Strict):
    """How long and how a net is trained."""

    samples: Annotated[int, Field(ge=1)] = 5_000_000
    batch_size: Annotated[int, Field(ge=2, le=65536)] = 200
    loss: Literal["cross_entropy", "squared_error"] = "cross_entropy"
    """squared_error: sum over points of (softmax - one-hot)^2, mean over batch and output planes (spec: GoNN 4.4, other
    systems 4.4)."""
    loss_from: Annotated[int, Field(ge=0)] = 0
    """Samples after which a loss other than cross-entropy takes its place."""
    loss_rate_factor: Annotated[float, Field(gt=0, le=1000)] = 1.0
    """Factor of the learning rate from `loss_from` on: the losses' gradients differ in size (GoNN: "a small constant
    factor", whose value it does not give)."""
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the next move's target that is spread over all points evenly, of cross-entropy in training alone."""
    policy_weight: Weight = 1.0
    """0: the net learns its auxiliary target alone."""
    plane_weights: Literal["mean", "sum", "harmonic"] = "mean"
    """Of several output planes' losses: 1/k each, 1 each, 1, 1/2, 1/3 (spec: other systems 4.4)."""
    mask_illegal: bool = False
    """Softmax over empty points but the ko point (spec: other systems 2.5)."""
    auxiliary: AuxiliaryConfig = AuxiliaryConfig()
    averaging: AveragingConfig = AveragingConfig()
    lookahead: LookaheadConfig = LookaheadConfig()
    hardest: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of each batch that is trained on: those positions that a small net, trained on all of them at the same
    time, predicts worst. `samples` counts all."""
    batch_ramp: Literal[1, 2, 4, 8, 16] = 1
    """Steps that are made of a batch in the first third of training, half as many in the second, one in the last; each
    on its part, at a rate smaller by the root of their number."""
    batch_splits: Annotated[int, Field(ge=1, le=1024)] = 1
    """Parts of a batch whose gradients are added up before the step: less memory, the same step."""
    optimiser: OptimiserConfig = OptimiserConfig()
    schedule: ScheduleConfig = ScheduleConfig()
    precision: Precision = "fp32"
    """bf16: autocast of the forward pass; weights, optimiser and loss stay fp32."""
    start_from: WeightsDigest | None = None
    """Digest of the weights that training starts from, all of them, batch statistics too; null: drawn by `init_seed`.
    `gonn train --from` keeps them where trials find them."""
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
        if self.batch_ramp > 1 and self.batch_splits > 1:
            raise ValueError("batch_ramp and batch_splits: one of the two")
        if self.batch_size // self.batch_ramp * self.hardest < 1:
            raise ValueError("hardest and batch_ramp leave no position of a batch for a step")
        if self.batch_size * self.hardest < self.batch_splits:
            raise ValueError("hardest and batch_splits leave no position of a batch for a part")
        if self.label_smoothing and (self.loss != "cross_entropy" or self.mask_illegal):
            raise ValueError("label_smoothing: of cross_entropy over all points")
        if self.loss_from and self.loss == "cross_entropy":
            raise ValueError("loss_from needs a loss other than cross_entropy")
        if self.loss_rate_factor != 1 and not self.loss_from:
            raise ValueError("loss_rate_factor needs a loss_from above 0: over a whole run it is the learning rate's")
        return self
