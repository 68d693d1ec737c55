"""Plan: what it fills in, and what it refuses before any work."""

from pathlib import Path

import pyarrow as pa
import pytest

from rota.batch import TimeAccess
from rota.data.reading import read_log
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.rope import RoPE
from rota.encodings.split import Split
from rota.errors import InputError
from rota.kernels.cosine import Cosine
from rota.kernels.wrapped_gaussian import WrappedGaussian
from rota.recipes.arms import arm_encoding
from rota.recipes.comparison import compare
from rota.recipes.plan import DEFAULT_ARMS, Plan
from rota.recipes.protocol import Protocol
from town import columns, town


def test_defaults_are_the_demo_arms_against_the_first() -> None:
    plan = Plan()
    assert plan.arms == DEFAULT_ARMS == ("none", "rope", "clockrope", "rope+clockrope", "trope")
    assert plan.control == "none"
    assert plan.protocol.time_access == "request"


def test_the_prior_goes_to_every_clock_and_to_nothing_else() -> None:
    prior = (Cosine("24h"), WrappedGaussian("7d", "2h"))
    assert arm_encoding("clockrope", prior) == ClockRoPE(prior)
    assert arm_encoding("rope+clockrope", prior) == Split([RoPE(), ClockRoPE(prior)])
    assert arm_encoding("rope", prior) == RoPE()
    assert arm_encoding("clockrope") == ClockRoPE()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arms": ()}, "at least one"),
        ({"arms": ("rope", "rope")}, "each once"),
        ({"arms": ("rope",), "control": "none"}, "'none'"),
        ({"seeds": 0}, "seeds 0"),
        ({"arms": ("rope",), "prior": (Cosine("24h"),)}, "add clockrope"),
        ({"arms": ("clockrope",), "prior": (Cosine(1 / 3),)}, "arm clockrope: period"),
        ({"protocol": Protocol(TimeAccess.NONE)}, "arm clockrope: .*time access none"),
    ],
)
def test_what_cannot_be_is_refused(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Plan(**given)


def test_a_period_of_too_many_ticks_is_refused_with_the_log_and_before_any_training(tmp_path: Path) -> None:
    plan = Plan(("none", "clockrope"), seeds=1, prior=(WrappedGaussian("365d", "1h"),))
    plan.require_fit("s")
    seconds = columns(town(8, 4))
    table = pa.table(seconds | {"when": pa.array([time * 10**9 for time in seconds["when"]])})
    log = read_log(table, user="user", item="item", time="when")
    assert log.unit == "ns"
    with pytest.raises(InputError, match=r"arm clockrope: .* use a coarser time unit"):
        compare(log, plan, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
