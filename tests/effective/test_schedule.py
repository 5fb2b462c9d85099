"""Schedules in one form: the same rate at every step, to the bit; equal rates, equal form."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.config import TrialConfig
from gonn_core.effective.schedule import ENUMERATED
from gonn_core.effective.whole import effective
from gonn_core.settings.training import ScheduleConfig, TrainingConfig
from gonn_core.training.schedule import learning_rate

SHARES = st.sampled_from([0.0, 0.1, 0.5, 0.945, 0.95, 0.999, 1.0])
FACTORS = st.sampled_from([1.0, 0.5, 0.1])


@st.composite
def trainings(draw, longest):
    batch = draw(st.sampled_from([2, 8, 50]))
    samples = batch * draw(st.integers(1, longest))
    kind = draw(st.sampled_from(["gonn", "knots", "linear", "constant", "half_life", "steps", "stall_halving"]))
    own = {
        "steps": st.fixed_dictionaries(
            {"steps": st.dictionaries(SHARES, FACTORS, min_size=1).map(lambda steps: tuple(sorted(steps.items())))}
        ),
        "knots": st.fixed_dictionaries(
            {
                "knots": st.tuples(FACTORS, FACTORS).map(lambda ends: ((0, ends[0]), (500, ends[1]))),
                "compression": st.sampled_from([1.0, 3.0]),
            }
        ),
        "gonn": st.fixed_dictionaries(
            {
                "compression": st.sampled_from([1.0, 3.0, 1e6]),
                "first_drop": st.sampled_from([100, 5_000_000]),
                "drop_every": st.sampled_from([1, 64, 4_000_000]),
            }
        ),
        "stall_halving": st.fixed_dictionaries({"stall_window": st.integers(1, samples)}),
    }
    fields = draw(own.get(kind, st.just({})))
    schedule = ScheduleConfig(
        kind=kind,
        warmup=draw(st.sampled_from([0, 0, 1, batch, batch + 1, samples // 2, samples])) % (samples + 1),
        final_drop=draw(st.sampled_from([1.0, 0.1])),
        half_life_share=draw(st.sampled_from([0.25, 1e20])),
        **fields,
    )
    later = {"loss": "squared_error", "loss_from": draw(st.integers(1, samples)), "loss_rate_factor": 3.0}
    return TrainingConfig(
        samples=samples, batch_size=batch, schedule=schedule, **draw(st.sampled_from([{}, {}, later]))
    )


def rates(training):
    return [learning_rate(training, seen) for seen in range(0, training.samples, training.batch_size)]


@settings(max_examples=200, deadline=None)
@given(trainings(longest=3 * ENUMERATED))
def test_the_rates_stay(training):
    config = TrialConfig(training=training)
    form = effective(config)
    assert rates(form.training) == rates(training)
    assert effective(form) == form


@settings(max_examples=150, deadline=None)
@given(trainings(longest=6), st.data())
def test_equal_rates_have_one_form(one, data):
    """Of schedules that depend on no losses, in runs short enough to compare at every step."""
    other = data.draw(trainings(longest=6))
    other = other.model_copy(update={"samples": one.samples, "batch_size": one.batch_size, "loss": one.loss})
    other = other.model_copy(update={"loss_from": one.loss_from, "loss_rate_factor": one.loss_rate_factor})
    if other.schedule.warmup > other.samples or "stall_halving" in (one.schedule.kind, other.schedule.kind):
        return
    forms = [effective(TrialConfig(training=training)) for training in (one, other)]
    assert (forms[0] == forms[1]) == (rates(one) == rates(other))


def test_long_runs_are_compared_where_rates_change():
    def schedule(samples, **fields):
        training = TrainingConfig(samples=samples, batch_size=200, schedule=ScheduleConfig(**fields))
        return effective(TrialConfig(training=training)).training.schedule

    assert schedule(5_000_000).kind == "constant"
    assert schedule(5_000_200) == ScheduleConfig(kind="steps", steps=((5_000_000 / 5_000_200, 64 / 81),))
    assert len(schedule(205_000_000).steps) == 50
    late = {"kind": "stall_halving", "stall_window": 5_000_000}
    assert schedule(10_000_000, **late).kind == "constant" and schedule(10_000_200, **late).kind == "stall_halving"
    dropped = schedule(10_000_000, kind="constant", final_drop=0.1)
    assert dropped == schedule(10_000_000, kind="steps", steps=((0.95, 0.1),))
