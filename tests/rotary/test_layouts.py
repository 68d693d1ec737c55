"""Projection weights carried from one layout to the other, and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rota.errors import InputError
from rota.rotary import convert_projection, rotate

HEADS = 3


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(("source", "target"), [("interleaved", "half"), ("half", "interleaved")])
@pytest.mark.parametrize(("head_dim", "pairs"), [(8, None), (8, 3), (9, 4), (2, 1), (4, 0)])
def test_logits_are_the_same(source: str, target: str, head_dim: int, pairs: int | None) -> None:
    turned_pairs = head_dim // 2 if pairs is None else pairs
    events, turns = normal(5, 7), torch.rand(5, 1, turned_pairs, dtype=torch.float64)
    logits = []
    for layout in (source, target):
        turned = []
        for seed in (1, 2):
            weight, bias = normal(HEADS * head_dim, 7, seed=seed), normal(HEADS * head_dim, seed=seed + 10)
            if layout == target:
                weight, bias = (
                    convert_projection(part, head_dim=head_dim, source=source, target=target, pairs=pairs)
                    for part in (weight, bias)
                )
            features = torch.nn.functional.linear(events, weight, bias).unflatten(-1, (HEADS, head_dim))
            turned.append(rotate(features, turns, layout))
        logits.append(torch.einsum("qhd,khd->hqk", *turned))
    torch.testing.assert_close(*logits, rtol=0, atol=1e-12)


def test_rotated_features_are_the_same_numbers_in_another_order() -> None:
    features, turns = normal(5, 2, 8), torch.rand(5, 1, 4, dtype=torch.float64)
    moved = convert_projection(features.flatten(1).T, head_dim=8, source="interleaved", target="half")
    moved = moved.T.unflatten(-1, (2, 8))
    assert torch.equal(moved[0, 0], features[0, 0, [0, 2, 4, 6, 1, 3, 5, 7]])
    torch.testing.assert_close(
        rotate(moved, turns, "half"), rotate(features, turns)[..., [0, 2, 4, 6, 1, 3, 5, 7]]
    )


@given(st.integers(1, 4), st.integers(1, 12), st.data())
def test_there_and_back_is_nothing(heads: int, head_dim: int, data: st.DataObject) -> None:
    pairs = data.draw(st.integers(0, head_dim // 2))
    weight = normal(heads * head_dim, 2)
    there = convert_projection(weight, head_dim=head_dim, source="half", target="interleaved", pairs=pairs)
    back = convert_projection(there, head_dim=head_dim, source="interleaved", target="half", pairs=pairs)
    assert torch.equal(back, weight)
    assert torch.equal(there.sort(0).values, weight.sort(0).values)
    assert torch.equal(
        convert_projection(weight, head_dim=head_dim, source="half", target="half", pairs=pairs), weight
    )


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"source": "neox"}, "layout 'neox'"),
        ({"target": "gptj"}, "layout 'gptj'"),
        ({"head_dim": 5}, r"projection of shape \(12, 2\): expected heads \* head_dim rows, head_dim 5"),
        ({"head_dim": 0}, "head_dim 0: expected the features of a head, at least 1"),
        ({"head_dim": -4}, "head_dim -4: expected"),
        ({"pairs": 3}, "3 pairs need 6 features; head_dim is 4: expected 0 to 2 pairs"),
        ({"pairs": -1}, "-1 pairs"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, object], says: str) -> None:
    given = {"head_dim": 4, "source": "half", "target": "interleaved", **changed}
    with pytest.raises(InputError, match=says):
        convert_projection(torch.zeros(12, 2), **given)  # type: ignore[arg-type]
