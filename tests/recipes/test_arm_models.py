"""Arms as networks: a name says model, encoding, bias, inputs and head, and a table can hold them all."""

from collections.abc import Callable

import pytest

from rota.attention.intervals import Intervals
from rota.batch import TimeAccess
from rota.encodings import (
    Calendar,
    ClockRoPE,
    FourierFeatures,
    NoEncoding,
    PositionBias,
    RoPE,
    Split,
    TimeBias,
    TRoPE,
)
from rota.errors import InputError
from rota.kernels import Cosine
from rota.models import HSTU, Model, RepeatHead, SASRec, Similarity, TiSASRec, Transformer
from rota.recipes.arm_models import arm_model, parse_inputs
from rota.recipes.lossmaking import parse_loss
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.tables import from_table, to_table
from rota.training.losses.base import Loss
from rota.training.losses.bce import BCE
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.negatives.popularity import PopularityNegatives
from rota.training.negatives.uniform import UniformNegatives
from rota.training.recipe import Training

BASE = Transformer(embedding_dim=32, num_layers=1, num_heads=4, max_len=50, dropout=0.1)
SIZES = {"embedding_dim": 32, "num_layers": 1, "num_heads": 4, "max_len": 50, "dropout": 0.1}


@pytest.mark.parametrize(
    ("arm", "model"),
    [
        ("none", BASE),
        ("rope+clockrope", BASE.with_encoding(Split([RoPE(), ClockRoPE()]))),
        ("transformer", BASE),
        ("transformer:rope", BASE.with_encoding(RoPE())),
        ("sasrec", SASRec(**SIZES)),
        ("sasrec:trope", SASRec(encoding=TRoPE(), **SIZES)),
        ("sasrec:calendar+repeat", SASRec(inputs=(Calendar(),), repeat_head=RepeatHead(), **SIZES)),
        ("tisasrec", TiSASRec(intervals=Intervals(dropout=0.1), **SIZES)),
        ("hstu", HSTU(**SIZES)),
        ("hstu:repeat", HSTU(repeat_head=RepeatHead(), **SIZES)),
        ("hstu:none", HSTU(bias=None, **SIZES)),
        ("hstu:position_bias", HSTU(bias=PositionBias(), **SIZES)),
        ("hstu:position_bias+trope", HSTU(TRoPE(), bias=PositionBias(), **SIZES)),
        ("hstu:time_bias", HSTU(bias=TimeBias(), **SIZES)),
        ("fourier_features", Transformer(inputs=(FourierFeatures(),), **SIZES)),
        ("rope+repeat", Transformer(RoPE(), repeat_head=RepeatHead(), **SIZES)),
    ],
)
def test_what_an_arm_trains(arm: str, model: Model) -> None:
    found = arm_model(arm, BASE)
    assert found == model
    assert from_table(to_table(found), Model) == found  # type: ignore[type-abstract]
    found.build(num_items=3, unit="s", time_access=TimeAccess.REQUEST, seed=0)


def test_what_the_base_has_reaches_every_model() -> None:
    base = Transformer(repeat_head=RepeatHead(RoPE()), similarity=Similarity(True, 0.1), **SIZES)
    assert arm_model("hstu", base).repeat_head == RepeatHead(RoPE())
    assert arm_model("rope+repeat", base).repeat_head == RepeatHead(RoPE())
    assert arm_model("rope", base).similarity == Similarity(True, 0.1)
    assert arm_model("hstu", base).similarity == HSTU().similarity  # its own


def test_inputs_are_those_named_or_given_or_the_models_own() -> None:
    given = (FourierFeatures(),)
    assert arm_model("rope", BASE, inputs=given).inputs == given
    assert arm_model("sasrec", BASE, inputs=given).inputs == given
    assert arm_model("sasrec:calendar", BASE, inputs=given).inputs == (Calendar(),)
    assert arm_model("rope", BASE, inputs=()).inputs == ()
    assert parse_inputs("none") == ()
    assert parse_inputs("calendar, fourier_features") == (Calendar(), FourierFeatures())
    plan = Plan(arms=("rope", "sasrec"), inputs=given)
    assert {recipe.inputs for recipe in plan.recipes().values()} == {given}
    assert from_table(to_table(plan), Plan) == plan


def test_what_is_said_of_the_comparison_reaches_every_arm() -> None:
    plan = Plan(arms=("rope", "hstu", "tisasrec"), temperature=0.1, model=BASE)
    found = plan.recipes()
    assert [found[arm].similarity for arm in found] == [
        Similarity(False, 0.1), Similarity(True, 0.1), Similarity(False, 0.1)
    ]  # fmt: skip
    assert from_table(to_table(plan), Plan) == plan
    tisasrec = found["tisasrec"]
    assert isinstance(tisasrec, TiSASRec)
    assert tisasrec.intervals.dropout == BASE.dropout == 0.1


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (SampledSoftmax(), False),
        (SampledSoftmax(log_q=True), True),
        (SampledSoftmax(negatives=PopularityNegatives()), True),
        (FullSoftmax(), True),
        (BCE(), False),
    ],
)
def test_a_repeat_head_asks_for_a_likelihood_of_the_whole_catalogue(loss: Loss, said: bool) -> None:
    assert loss.is_likelihood == said
    protocol = Protocol(training=Training(loss=loss))
    if said:
        Plan(arms=("rope+repeat",), protocol=protocol)
        return
    with pytest.raises(InputError, match=r"use full_softmax, or sampled_softmax\(log_q=True\)"):
        Plan(arms=("rope", "rope+repeat"), protocol=protocol)


@pytest.mark.parametrize("loss", [FullSoftmax(temperature=0.05), SampledSoftmax(log_q=True, temperature=2)])
def test_a_repeat_head_is_trained_as_the_mixture_that_is_ranked(loss: Loss) -> None:
    """A temperature of the loss alone would weigh what is copied otherwise than scores do."""
    protocol = Protocol(training=Training(loss=loss))
    Plan(arms=("rope",), protocol=protocol)
    with pytest.raises(InputError, match=r"arm rope\+repeat: .* temperature .* put it there"):
        Plan(arms=("rope", "rope+repeat"), protocol=protocol)
    Plan(arms=("rope+repeat",), protocol=Protocol(training=Training(loss=FullSoftmax())), temperature=0.05)


def test_the_prior_reaches_the_clock_of_every_model() -> None:
    prior = (Cosine("24h"),)
    assert arm_model("hstu:rope+clockrope", BASE, prior).encoding == Split([RoPE(), ClockRoPE(prior)])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: arm_model("bert:rope", BASE), r"'bert:rope': unknown model 'bert': expected one of hstu, "),
        (lambda: arm_model("hstu:ropee", BASE), r"unknown arm 'hstu:ropee': expected one of clockrope"),
        (lambda: arm_model("rope+time_bias", BASE), "Transformer takes no bias: leave it out"),
        (lambda: arm_model("hstu:time_bias+position_bias", BASE), "two biases of pairs"),
        (lambda: arm_model("tisasrec:rope", BASE), "TiSASRec"),
        (lambda: arm_model("hstu:popularity", BASE), "popularity is untrained"),
        (lambda: arm_model("", BASE), "arm '': a part is missing"),
        (lambda: arm_model("hstu:", BASE), "arm 'hstu:': a part is missing"),
        (lambda: arm_model("rope+", BASE), r"arm 'rope\+': a part is missing"),
        (lambda: arm_model("rope+repeat+repeat", BASE), "repeat twice"),
        (lambda: Plan(arms=("rope", "rope+repeat")), r"arm rope\+repeat: SampledSoftmax as it is gives no"),
        (lambda: parse_inputs("calender"), "unknown input 'calender': expected none, or some of calendar, "),
        (lambda: Plan(arms=("hstu",), prior=(Cosine("24h"),)), "add clockrope"),
    ],
)
def test_what_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        wrong()
    assert "\n" not in str(refused.value)


def test_losses_as_people_write_them() -> None:
    assert parse_loss("sampled_softmax") == SampledSoftmax()
    assert parse_loss("full_softmax") == FullSoftmax()
    assert parse_loss("bce", 3) == BCE(num_negatives=3)
    assert parse_loss("sampled_softmax(num_negatives=7)", negatives="uniform") == SampledSoftmax(
        7, negatives=UniformNegatives()
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: parse_loss("hinge"), "loss 'hinge': expected one of bce, full_softmax, gbce, sampled"),
        (lambda: parse_loss("full_softmax", 5), "loss 'full_softmax' takes no num_negatives"),
        (lambda: parse_loss("bce", negatives="hard"), "negatives 'hard': expected one of in_batch, "),
        (lambda: parse_loss("bce(3)"), "an argument without a name"),
    ],
)
def test_losses_that_are_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        wrong()
    assert "\n" not in str(refused.value)


def test_encodings_are_none_where_a_bias_alone_is_named() -> None:
    assert arm_model("hstu:position_bias", BASE).encoding == NoEncoding()
