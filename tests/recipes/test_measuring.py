"""The arm whose profile is measured: on training events alone, once, and kept with the model."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rota.data.log import Log
from rota.data.reading import read_log
from rota.encodings import ClockRoPE, RoPE, Split
from rota.errors import InputError
from rota.kernels import Constant, Cosine, Laplace, Measured, parse_kernel
from rota.models.transformer import Transformer
from rota.recipes.arms import UNMEASURED, arm_encoding
from rota.recipes.comparison import compare
from rota.recipes.measuring import measure_law, measured
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question, ask_of
from rota.serving.artefact import load_artefact
from rota.toml import read_recipe
from rota.training.recipe import Training
from town import DAY, HOUR, MONDAY, columns, town

ARM, BESIDE = "clockrope-measured", "rope+clockrope-measured"
LAW = Measured(Constant() * 0.5 + Laplace("3h") * 0.5)


def town_log(days: int = 14) -> Log:
    return read_log(pa.table(columns(town(30, days))), user="user", item="item", time="when")


def aimless_log(users: int = 60, events: int = 60) -> Log:
    """Items that have nothing to do with when they come."""
    rng = np.random.default_rng(0)
    times = MONDAY + np.sort(rng.integers(0, 20 * DAY, (users, events)), axis=1)
    table = {
        "user": np.repeat(np.arange(users), events),
        "item": rng.integers(0, 4, users * events),
        "when": times.ravel(),
    }
    return read_log(pa.table(table), user="user", item="item", time="when")


def small(*arms: str, **changed: object) -> Plan:
    model = Transformer(embedding_dim=32, num_layers=1, num_heads=2, max_len=16)
    protocol = Protocol(training=Training(epochs=1, batch_size=16))
    return Plan(arms, seeds=1, model=model, protocol=protocol, **changed)  # type: ignore[arg-type]


def test_the_law_goes_to_its_arm_and_to_nothing_else() -> None:
    assert arm_encoding(ARM, law=LAW) == ClockRoPE((LAW,))
    assert arm_encoding(BESIDE, law=LAW) == Split([RoPE(), ClockRoPE((LAW,))])
    assert arm_encoding("rope+clockrope", law=LAW) == Split([RoPE(), ClockRoPE()])
    prior = (Cosine("24h"),)
    both = arm_encoding(f"clockrope+{ARM}", prior, law=LAW)
    assert both == Split([ClockRoPE(prior), ClockRoPE((LAW,))])
    with pytest.raises(InputError, match=r"arm 'rope\+clockrope-measured': its law is measured on"):
        arm_encoding(BESIDE)


def test_a_plan_asks_for_a_law_until_it_has_one() -> None:
    plan = small("rope", BESIDE)
    assert plan.asks_for_law
    assert not small("rope", "clockrope").asks_for_law
    told = replace(plan, law=LAW)
    assert not told.asks_for_law
    assert told.recipes()[BESIDE].encoding == arm_encoding(BESIDE, law=LAW)
    assert plan.recipes()[BESIDE].encoding == arm_encoding(BESIDE, law=UNMEASURED)
    with pytest.raises(InputError, match=r"no arm of .* has a profile; add clockrope"):
        small("rope", ARM, prior=(Cosine("24h"),))  # what is measured has no use for a prior
    small("clockrope", ARM, prior=(Cosine("24h"),))


def test_a_daily_town_has_a_daily_law() -> None:
    question = ask_of(town_log())
    found = measure_law(question.histories, question.stages.train)
    ((share, part),) = [one for one in found.kernel.periodic if one[1].period == DAY]
    assert share > 0.4
    assert found.whole is not None
    assert max(found.whole.kernel.periodic[0][1].harmonics) >= 4
    assert part.harmonics == (
        1,
    )  # two places, in the morning and in the evening: no more is foreseen by more
    assert found.too_fast == len(found.whole.kernel.periodic[0][1].harmonics) - 1
    told = found.facts()
    assert told["expression"] == str(found.kernel)
    assert told["distance"] == found.distance
    assert told["with_harmonics_too_fast"]["expression"] == str(found.whole.kernel)  # type: ignore[index]
    assert told["with_harmonics_too_fast"]["distance"] == found.whole.distance  # type: ignore[index]
    assert f"{found.distance:.3f} away (RMS, of f(0)); {found.too_fast} faster" in found.in_words
    lags = np.array([0.25, 1.0]) * DAY
    assert found.kernel(lags)[1] > found.kernel(lags)[0] + 0.4


def with_other_later_events(question: Question) -> Question:
    """The same training; validation and test ask for other items at other hours."""
    histories, stages = question.histories, question.stages
    later = np.ones(len(histories.items), bool)
    for start, stop in zip(stages.train.starts, stages.train.stops, strict=True):
        later[start:stop] = False
    assert later.sum() >= 2 * histories.num_users
    items = np.where(later, (histories.items + 1) % histories.num_items, histories.items)
    times = np.where(later, histories.times + 5 * HOUR, histories.times)
    return replace(question, histories=replace(histories, items=items, times=times))


def test_later_events_are_not_looked_at() -> None:
    question = ask_of(town_log())
    _, told = measured(small(ARM), question)
    _, other = measured(small(ARM), with_other_later_events(question))
    assert told.law is not None
    assert other.law is not None
    assert other.law.kernel == told.law.kernel
    np.testing.assert_array_equal(other.law.lift.same, told.law.lift.same)
    everything = measure_law(question.histories)  # the test itself can fail: with all events it is another
    assert everything.lift.num_pairs > told.law.lift.num_pairs


def test_the_clock_is_that_of_the_model() -> None:
    """Times in New York across the end of summer time: the habit is daily on the wall clock alone."""
    days = np.arange(28)
    local = np.datetime64("2023-10-22T08:00") + days.astype("m8[D]")
    utc = local + np.where(local < np.datetime64("2023-11-05T02:00"), 4, 5).astype("m8[h]")
    rows = [
        (user, day % 2 if hour else 2 + user, int(time.astype("M8[s]").astype(int)) + hour * HOUR + user)
        for user in range(20)
        for day, time in enumerate(utc)
        for hour in (0, 7)
    ]
    table = pa.table(dict(zip(("user", "item", "when"), zip(*rows, strict=True), strict=True)))
    shares = []
    for zone in ("America/New_York", None):
        log = read_log(table, user="user", item="item", time="when", **({"zone": zone} if zone else {}))
        question = ask_of(log)
        found = measure_law(question.histories, question.stages.train)
        assert found.whole is not None
        shares.append(float(found.whole.kernel(DAY)))
        assert (question.histories.times == log.clock).all()
    assert shares[0] > shares[1]


def test_arms_end_to_end(tmp_path: Path) -> None:
    log, out = town_log(), tmp_path / "out"
    study = compare(log, small("rope", ARM, BESIDE), out=out)
    question = ask_of(log)
    law = measure_law(question.histories, question.stages.train)
    told = json.loads((out / "results.json").read_text())["data"]["law"]
    assert parse_kernel(told["expression"]) == law.kernel
    assert 0 < told["distance"] < 1
    assert 0 < told["within_band"] <= 1
    assert len(study.priors) == 1
    assert study.priors[0].label.startswith("measured")
    for fit in study.priors:
        assert fit.observed is not None
        assert fit.wanted(np.zeros(1)) == pytest.approx(1)
    assert (out / "prior.png").stat().st_size > 10_000
    assert read_recipe(out / "plan.toml", Plan).law is None  # what is run again is measured again
    for arm in (ARM, BESIDE):
        model = load_artefact(out / "models" / f"{arm}-seed0")  # the log is not there
        encoding = model.blueprint.model.encoding  # type: ignore[attr-defined]
        clock = encoding if isinstance(encoding, ClockRoPE) else encoding.parts[1]
        assert clock == ClockRoPE((law.kernel,))


def test_where_nothing_is_found_no_feature_turns_and_it_is_said() -> None:
    plan, question = measured(small("rope", BESIDE), ask_of(aimless_log()))
    assert plan.law == Measured(Constant())
    assert ("law", question.law.in_words) in question.describe()  # type: ignore[union-attr]
    assert question.law.in_words.startswith("nothing: neither routine nor recency")  # type: ignore[union-attr]
    plan.require_fit("s")
    split = plan.recipes()[BESIDE].encoding
    module = split.parts[1].build(head_dim=8, num_heads=2)  # type: ignore[attr-defined]
    assert not module.cycles_per_second.any()


def test_who_does_not_ask_is_not_measured() -> None:
    question = ask_of(aimless_log())
    plan = small("rope", "clockrope")
    assert measured(plan, question) == (plan, question)
    assert "law" not in question.facts()


def test_too_few_users_are_refused_in_one_line() -> None:
    log = read_log(pa.table(columns(town(3, 8))), user="user", item="item", time="when")
    with pytest.raises(InputError, match="no law for the measured arms: 3 users with two events") as refused:
        compare(log, small(ARM))
    assert "\n" not in str(refused.value)


def test_what_routines_refuses_a_law_refuses_too() -> None:
    each = aimless_log(events=1)
    with pytest.raises(InputError, match="60 users, none with two events or more: expected at least 20"):
        measure_law(each.histories())
    log = aimless_log(users=30, events=20)
    distinct = replace(log.histories(), items=np.arange(len(log)), num_items=len(log))
    with pytest.raises(InputError, match=r"no user has the same item twice, .* apart, so nothing can return"):
        measure_law(distinct)


def test_dates_are_days_on_every_clock() -> None:
    """Midnights of UTC on a clock with summer time lie at two hours of the day."""
    rng = np.random.default_rng(0)
    days = MONDAY // DAY + np.sort(rng.integers(0, 300, (30, 60)), axis=1)
    table = {
        "user": np.repeat(np.arange(30), 60), "item": rng.integers(0, 4, 1800), "when": (days * DAY).ravel(),
    }  # fmt: skip
    log = read_log(pa.table(table), user="user", item="item", time="when", zone="America/New_York")
    question = ask_of(log)
    assert measure_law(question.histories).lift.width == HOUR
    for spans in (None, question.stages.train):
        law = measure_law(question.histories, spans, instants=question.log.times)
        assert law.lift.width == DAY
        assert "nothing below 2d is seen" in law.in_words
    _, told = measured(small(ARM), question)
    assert told.law is not None
    assert told.law.lift.width == DAY
