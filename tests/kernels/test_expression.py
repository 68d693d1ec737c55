"""Profiles as people write them: what is read, what is refused and where, and that writing is the inverse."""

import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.errors import InputError
from rota.kernels import (
    Cosine,
    FunctionKernel,
    Harmonics,
    Kernel,
    Product,
    Rescaled,
    Smoothness,
    WeightedSum,
    WrappedGaussian,
    parse_kernel,
)

DAY, WEEK, NARROW = Cosine("24h"), Cosine("7d"), WrappedGaussian("24h", "0.5h")


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("cosine(24h)", DAY),
        (" cosine ( 86400 ) \n", DAY),
        ("cosine(period=24 h)", DAY),
        ("cosine(8.64e4s)", DAY),
        ("wrapped_gaussian(24h, 0.5h)", NARROW),
        ("wrapped_gaussian(24h, 0.5h,)", NARROW),
        ("wrapped_gaussian(width=.5h, period=1440min)", NARROW),
        ("wrapped_gaussian(24h, width=30min)", NARROW),
        ("rescaled(cosine(24h), 7)", Rescaled(DAY, 7)),
        ("rescaled(cosine(24h) + cosine(7d), factor=0.5)", Rescaled(DAY + WEEK, 0.5)),
        ("((cosine(24h)))", DAY),
        ("harmonics(24h, [0, 1], [.5, 1])", Harmonics("24h", [0, 1], [0.5, 1.0])),
        ("function(my.profiles:daily)", FunctionKernel("my.profiles:daily")),
        ("function(my:daily, 24h, None)", FunctionKernel("my:daily", "24h")),
        (
            "function(my:daily, 24h, smoothness(2, 1e-8)) + cosine(24h)",
            FunctionKernel("my:daily", "24h", Smoothness(2, 1e-8)) + DAY,
        ),
        ("cosine(24h) * 0.7 + cosine(7d) * 0.3", WeightedSum((DAY, WEEK), (0.7, 0.3))),
        ("0.7 * cosine(24h) + 3e-1 * cosine(7d)", WeightedSum((DAY, WEEK), (0.7, 0.3))),
        ("2 * cosine(24h) * 3", WeightedSum((DAY,), (6.0,))),
        ("2 * 3 * cosine(24h)", WeightedSum((DAY,), (6.0,))),
        ("(cosine(24h) + cosine(7d)) * 2 + cosine(24h)", WeightedSum((DAY, WEEK, DAY), (2.0, 2.0, 1.0))),
        # * binds more tightly than +.
        ("cosine(24h) + cosine(7d) * cosine(24h)", WeightedSum((DAY, Product((WEEK, DAY))), (1.0, 1.0))),
        ("cosine(24h) * (cosine(7d) * cosine(24h))", Product((DAY, WEEK, DAY))),
        ("cosine(24h) * cosine(7d) * 0.5", WeightedSum((Product((DAY, WEEK)),), (0.5,))),
    ],
)
def test_reads(text: str, kernel: Kernel) -> None:
    assert parse_kernel(text, functions=True) == kernel


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (WrappedGaussian("24h", "2h"), "wrapped_gaussian(24h, 2h)"),
        (NARROW, "wrapped_gaussian(24h, 0.5h)"),
        (WEEK, "cosine(7d)"),
        (DAY.rescale(7), "rescaled(cosine(24h), 7.0)"),
        (DAY * 0.7 + WEEK * 0.3, "cosine(24h) * 0.7 + cosine(7d) * 0.3"),
        (DAY * WEEK, "cosine(24h) * cosine(7d)"),
        (Harmonics("24h", [0, 1], [0.5, 0.5]), "harmonics(24h, [0, 1], [0.5, 0.5])"),
        ((DAY * 3 + WEEK) * WEEK, "(cosine(24h) * 0.75 + cosine(7d) * 0.25) * cosine(7d) * 4.0"),
        ((DAY * 0.5 + WEEK * 0.5) * WEEK, "(cosine(24h) * 0.5 + cosine(7d) * 0.5) * cosine(7d)"),
    ],
)
def test_writes(kernel: Kernel, text: str) -> None:
    assert str(kernel) == text


WEIGHTS = st.floats(1e-3, 1e3)
LENGTHS = st.floats(1e-3, 1e12)
# Trees are described by the strategy and built by the test: building checks types, which draws at random.
Tree = tuple[object, ...]
LEAVES = st.tuples(LENGTHS) | st.tuples(LENGTHS, LENGTHS)


def _composed(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(st.tuples(inner, WEIGHTS), min_size=2, max_size=3)
    names = st.sampled_from(["+", "*", "sum", "product"])
    return st.tuples(st.sampled_from(["weigh", "rescale"]), inner, WEIGHTS) | st.tuples(names, several)


def build(tree: Tree) -> Kernel:
    match tree:
        case (float(period),):
            return Cosine(period)
        case (float(period), float(width)):
            return WrappedGaussian(period, width)
        case ("weigh", tuple(inner), float(weight)):
            return build(inner) * weight
        case ("rescale", tuple(inner), float(factor)):
            return build(inner).rescale(factor)
        case (str(name), list(parts)):
            kernels, weights = [build(part) for part, _ in parts], [weight for _, weight in parts]
            if name == "sum":
                return WeightedSum(kernels, weights)
            if name == "product":
                return Product(kernels)
            return reduce(operator.add if name == "+" else operator.mul, kernels)
    raise AssertionError(tree)


@given(st.recursive(LEAVES, _composed, max_leaves=8))
def test_what_is_written_is_read_back_exactly(tree: Tree) -> None:
    kernel = build(tree)
    again = parse_kernel(str(kernel), functions=True)
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert str(again) == str(kernel)


LAGS = np.linspace(-3e5, 3e5, 41)
SMALL = st.sampled_from([DAY, WEEK, NARROW])


@given(st.lists(st.tuples(SMALL, WEIGHTS), min_size=1, max_size=3), WEIGHTS, SMALL, SMALL)
def test_weights_are_carried_through_products_and_nested_sums(
    parts: list[tuple[Kernel, float]], weight: float, factor: Kernel, other: Kernel
) -> None:
    """``((sum w f) * v * g + h)`` is ``sum w v f g + h``, divided by all its weights; computed plainly."""
    total = parts[0][0] * parts[0][1]
    for kernel, w in parts[1:]:
        total = total + kernel * w
    whole = total * weight * factor + other
    weights = [w * weight for _, w in parts]
    values = sum(w * kernel(LAGS) * factor(LAGS) for (kernel, _), w in zip(parts, weights, strict=True))
    wanted = (values + other(LAGS)) / (sum(weights) + 1)
    np.testing.assert_allclose(whole(LAGS), wanted, rtol=0, atol=1e-13)
    np.testing.assert_allclose(parse_kernel(str(whole))(LAGS), wanted, rtol=0, atol=1e-13)


@given(SMALL, SMALL, SMALL, WEIGHTS, WEIGHTS)
def test_a_sum_in_a_sum_is_a_profile_with_its_weight(
    one: Kernel, two: Kernel, three: Kernel, inner: float, outer: float
) -> None:
    nested = WeightedSum((WeightedSum((one, two), (inner, 1.0)), three), (outer, 1.0))
    mean = (inner * one(LAGS) + two(LAGS)) / (inner + 1)
    np.testing.assert_allclose(nested(LAGS), (outer * mean + three(LAGS)) / (outer + 1), rtol=0, atol=1e-13)


FOR_INSTANCE = r'for instance "wrapped_gaussian\(24h, 2h\)"'


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", 1, f"found the end: expected a profile, {FOR_INSTANCE}"),
        ("24h", 1, "a number alone: expected a profile"),
        ("0.7", 1, "a number alone: expected a profile"),
        ("cosine(24h) + 3", 15, "a number alone"),
        ("(0.7 + 0.3) * cosine(24h)", 2, "a number alone"),
        ("cosine(24h", 11, f'found the end: expected "," or "\\)", {FOR_INSTANCE}'),
        ("(cosine(24h)", 13, 'found the end: expected "\\)"'),
        ("cosine(24h))", 12, r"found '\)': expected \+, \* or the end"),
        ("cosine", 7, f'found the end: expected "\\(" and arguments after cosine, {FOR_INSTANCE}'),
        ("cosine(24h) *", 14, "found the end: expected a profile"),
        ("cosine(24h) cosine(7d)", 13, r"found 'cosine': expected \+, \* or the end"),
        ("cosine(24h) - cosine(7d)", 13, "found '-'"),
        ("cosine(24h) / 2", 13, "unexpected '/': expected a profile"),
        ("cosine(24h) * -2", 1, r"weight -2\.0 .* expected a positive"),
        ("cosine(24h) * 1e999", 1, "weight inf"),
        ("cosine(24h) * 1e308 + cosine(24h) * 1e308", 1, "expected a finite total"),
        ("cosine(7d) + sine(24h)", 14, r"unknown name 'sine' .* expected one of .*\bcosine\b"),
        ("__import__('os')", 12, 'unexpected "\'"'),
        ("cosine.__class__(24h)", 7, r"unexpected '\.'"),
        ("base(24h)", 1, "unknown name 'base'"),
        ("product(cosine(24h))", 1, r"product is not called: write \+ or \* between profiles"),
        ("weighted_sum(cosine(24h), 1)", 1, "weighted_sum is not called"),
        ("wrapped_gaussian(24h)", 1, r"width is missing: expected wrapped_gaussian\(period, width\)"),
        ("cosine()", 1, r"period is missing: expected cosine\(period\)"),
        ("cosine(24h, 2h)", 13, r"'2' is too much: expected cosine\(period\)"),
        ("cosine(perod=24h)", 8, r"'perod' is too much: expected cosine\(period\)"),
        ("cosine(24h, period=24h)", 13, "period is given twice"),
        ("cosine(soon)", 8, r"duration 'soon': expected .* \"24h\""),
        ("cosine(24x)", 8, "duration '24x'"),
        ("cosine(cosine(24h))", 8, "duration 'cosine'"),
        ("cosine((24h))", 8, r"found '\(': expected a length of time"),
        ("rescaled(cosine(24h), soon)", 23, "'soon': expected a number"),
        ("rescaled(cosine(24h), 7h)", 24, 'found \'h\': expected "," or "\\)"'),
        ("harmonics(24h, 0, [1])", 16, "found '0': expected \"\\[\""),
        ("harmonics(24h, [0.5], [1])", 17, "'0.5': expected a whole number"),
        ("harmonics(24h, [0, [1]], [1])", 20, r"found '\[': expected a whole number"),
        ("function(daily)", 1, 'expected "module:name"'),
        ("function('my:daily')", 10, 'unexpected "\'"'),
        ("function(my:daily, 24h, 2)", 25, r"found '2': expected smoothness\(order, bound\)"),
        ("function(my:daily, 24h, smoothness(2))", 25, "bound is missing"),
        ("function(my:daily, 24h, smoothness(0, 1))", 25, "smoothness of order 0"),
        ("smoothness(2, 1)", 1, "unknown name 'smoothness'"),
        ("rescaled(cosine(24h), -7)", 1, r"factor -7\.0"),
        ("rescaled(7, cosine(24h))", 10, "a number alone: expected a profile"),
        ("cosine(٢٤h)", 8, "unexpected"),
        ("(" * 100_000, 21, "brackets are nested over 20 deep"),
        ("rescaled(" * 2000, 181, "brackets are nested over 20 deep"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, place: int, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        parse_kernel(text, functions=True)
    message = str(caught.value)
    assert "\n" not in message
    assert f", character {place}: " in message
    assert len(message) < 300
    if len(text) <= 60:
        assert message.startswith(f"profile {text!r}")


@given(st.text(max_size=40) | st.text("cosine(24h, 7d)+*.0=", max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        said = str(parse_kernel(text))
        assert parse_kernel(said) == parse_kernel(text)
    except InputError as error:
        said = str(error)
    assert len(said.splitlines()) == 1


def test_a_long_sum_is_no_deep_one() -> None:
    many = " + ".join(["cosine(24h)"] * 60)
    assert parse_kernel(many) == WeightedSum([DAY] * 60, [1.0] * 60)
    assert parse_kernel(f"rescaled({'(' * 15}cosine(24h){')' * 15}, 2)") == Rescaled(DAY, 2)


def test_a_product_needs_two_profiles() -> None:
    with pytest.raises(InputError, match="a product of 1 profiles: expected at least two"):
        Product((DAY,))


def test_text_alone_names_nothing_to_import() -> None:
    with pytest.raises(InputError, match="a function would be imported and called: give it by --function"):
        parse_kernel("cosine(24h) + function(os:system)")
