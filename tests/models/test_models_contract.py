"""What every trained model owes; a new file inherits it, bare, with rotations and with a repeat head."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from models_tried import ITEMS, NOW, window
from torch import Tensor

from roll_call import roll_call
from rota.batch import Batch, TimeAccess, Window, collate, row_batch
from rota.encodings import ClockRoPE, NoEncoding, RoPE, Split
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.models import Blueprint, Model, Network, Outlook, RepeatHead
from rota.models.base import Scorer
from rota.training.checkpoint import load_checkpoint, save_checkpoint
from rota.training.loop import fit
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.progress import Progress
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows

MODELS = roll_call("models", Model)
SIZES = {"embedding_dim": 16, "num_layers": 2, "num_heads": 2, "max_len": 12}
ROTATIONS = {"rope": RoPE(), "rope+clockrope": Split([RoPE(), ClockRoPE()])}
PROBED = {  # each variant, and the barest and the fullest at every time access that they take
    TimeAccess.NONE: ("plain", "rope", "rope + repeat"),
    TimeAccess.HISTORY: ("plain", "repeat clock", "rope+clockrope + repeat"),
    TimeAccess.REQUEST: ("plain", "plain + repeat", "rope+clockrope", "rope+clockrope + repeat"),
}


def variants(kind: Callable[..., Model]) -> dict[str, Model]:
    """A model as it comes, with the rotations that it takes, and each with a repeat head."""
    plain = kind(**SIZES)
    found = {"plain": plain, "repeat clock": replace(plain, repeat_head=RepeatHead(ClockRoPE()))}  # type: ignore[type-var]
    for name, encoding in ROTATIONS.items():
        try:
            found[name] = plain.with_encoding(encoding)
        except InputError as error:  # it takes none, and says so
            assert f"encoding {type(encoding).__name__} of {kind.__name__}" in str(error)  # noqa: PT017
    heads = {f"{name} + repeat": replace(recipe, repeat_head=RepeatHead()) for name, recipe in found.items()}  # type: ignore[type-var]
    del heads["repeat clock + repeat"]
    return found | heads


@dataclass(frozen=True)
class Case:
    """A model and what it may see."""

    recipe: Model
    access: TimeAccess

    @property
    def blueprint(self) -> Blueprint:
        """All that builds it."""
        return Blueprint(self.recipe, ITEMS, "s", str(self.access), 0)

    def collate(self, windows: list[Window]) -> Batch:
        """Rows as it may see them."""
        return collate(windows, self.access)


def is_needy(recipe: Model) -> bool:
    """Whether a part of it works by time, asked of the parts."""
    head = recipe.repeat_head
    return recipe.encoding.needs_clock or bool(recipe.clocks()) or (head is not None and bool(head.clocks()))


RECIPES = {
    f"{name}, {variant}": recipe
    for name, kind in MODELS.items()
    for variant, recipe in variants(kind).items()
}
CASES = {
    f"{name}, {access}": Case(recipe, access)
    for name, recipe in RECIPES.items()
    for access in TimeAccess
    if name.partition(", ")[2] in PROBED[access] and (access != TimeAccess.NONE or not is_needy(recipe))
}
EVERY = pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES.items()])
ONCE = pytest.mark.parametrize(
    "case",
    [pytest.param(Case(recipe, TimeAccess.REQUEST), id=name) for name, recipe in RECIPES.items()],
)
KINDS = pytest.mark.parametrize("kind", [pytest.param(kind, id=name) for name, kind in MODELS.items()])


@cache
def network_of(case: Case) -> Network:
    """The case's network in evaluation mode; nobody changes it."""
    return case.blueprint.build().eval()


def parts(outlook: Outlook) -> list[Tensor]:
    """All that is known at each position, positions second."""
    copies = outlook.copies
    return [outlook.features, *([] if copies is None else [copies.log_new, copies.copied])]


def cut(batch: Batch, length: int) -> Batch:
    """The first events alone."""
    first = slice(None), slice(length)
    times = (None if t is None else t[first] for t in (batch.key_time, batch.query_time))
    return Batch(batch.items[first], *times, batch.lengths.clamp(max=length))


def test_there_are_models() -> None:
    assert {"transformer", "sasrec", "tisasrec", "hstu"} <= set(MODELS)
    assert len(RECIPES) >= 7 * len(MODELS) - 4  # TiSASRec takes no rotation


@EVERY
def test_nothing_looks_ahead(case: Case) -> None:
    network, rows = network_of(case), [window(9, seed) for seed in range(3)]
    whole, later = case.collate(rows), []
    for row in rows:
        items, times, asked = row.items.copy(), row.times.copy(), row.query_times.copy()
        items[6:] = (items[6:] + 1) % ITEMS
        times[6:] += 40_000
        asked[6:] += 90_000  # the query at 5 still asks at the old time of event 6
        later.append(Window(items, times, asked))
    before, after = parts(network(whole)), parts(network(case.collate(later)))
    for one, two in zip(before, after, strict=True):
        assert torch.equal(two[:, :6], one[:, :6])
        assert not torch.isclose(two[:, 6:], one[:, 6:]).all()
    for length in (1, 4):
        for one, two in zip(before, parts(network(cut(whole, length))), strict=True):
            seen = one[:, :length] if one.ndim == 2 else one[:, :length, : two.shape[-1]]
            torch.testing.assert_close(two, seen, rtol=0, atol=1e-5)


@EVERY
def test_padding_and_batch_mates_change_nothing(case: Case) -> None:
    network, rows = network_of(case), [window(length, length) for length in (4, 7, 1)]
    batch = case.collate(rows)
    together = parts(network(batch))
    for i, row in enumerate(rows):
        alone, n = case.collate([row]), len(row.items)
        for mine, theirs in zip(parts(network(alone)), together, strict=True):
            seen = theirs[i, :n] if theirs.ndim == 2 else theirs[i, :n, : mine.shape[-1]]
            torch.testing.assert_close(mine[0], seen, rtol=0, atol=1e-5)
    scrambled = torch.where(batch.mask, batch.items, 17)  # what is in the padding does not matter at all
    garbled = [
        None if t is None else torch.where(batch.mask, t, 5) for t in (batch.key_time, batch.query_time)
    ]
    other = Batch(scrambled, *garbled, batch.lengths)
    for one, two in zip(together, parts(network(other)), strict=True):
        assert torch.equal(one[batch.mask], two[batch.mask])
    assert torch.equal(network.scores(other), network.scores(batch))


@EVERY
def test_scores_are_those_of_the_last_event(case: Case) -> None:
    network, batch = network_of(case), case.collate([window(4, 0), window(7, 1), window(1, 2)])
    (features, copies), scores = network(batch), network.scores(batch)
    assert scores.shape == (3, ITEMS)
    assert scores.isfinite().all()
    for row, last in enumerate((3, 6, 0)):
        logits = torch.stack([features[row, last] @ item for item in network.item_embeddings])
        if copies is None:
            torch.testing.assert_close(scores[row], logits)
        else:
            everything, asked = torch.arange(ITEMS), torch.full((ITEMS,), row * 7 + last)
            mixed = copies.mixed(logits.log_softmax(-1), asked, everything)
            torch.testing.assert_close(scores[row], mixed)
            assert float(scores[row].detach().exp().sum()) == pytest.approx(1, abs=1e-5)
    assert isinstance(network, Scorer)
    assert network.max_len == SIZES["max_len"]
    assert network.time_access == case.access
    assert network.needs_clock == (case.access != TimeAccess.NONE)
    assert (copies is None) == (case.recipe.repeat_head is None)


@EVERY
def test_attention_sums_to_one_and_is_causal(case: Case) -> None:
    batch = case.collate([window(8, 0), window(5, 1), window(1, 2)])
    layers = network_of(case).attention(batch)
    assert len(layers) == SIZES["num_layers"]
    for layer in layers:
        assert layer.shape == (3, SIZES["num_heads"], 8, 8)
        torch.testing.assert_close(layer.sum(-1), torch.ones(layer.shape[:-1]))
        assert (layer >= 0).all()
        assert (layer.triu(1) == 0).all()
        assert (layer[..., 0, 0] == 1).all()


@EVERY
def test_times_count_as_far_as_they_may_be_seen(case: Case) -> None:
    network, row = network_of(case), window(5, 0)
    later = Window(row.items, row.times, row.query_times + 3_000_000)
    elsewhen = Window(row.items, row.times + np.arange(5) * 700_000, row.query_times + 5_000_000)
    told, asked, moved = (network.scores(case.collate([w])) for w in (row, later, elsewhen))
    if case.access == TimeAccess.NONE:
        assert torch.equal(told, moved)
        assert torch.equal(told, network.scores(collate([row], TimeAccess.REQUEST)))
    elif is_needy(case.recipe):
        assert not torch.equal(told, moved)
    if case.access != TimeAccess.REQUEST:
        assert torch.equal(told, asked)
    elif is_needy(case.recipe):
        assert not torch.equal(told, asked)


@EVERY
def test_a_batch_without_times_is_refused_where_they_count(case: Case) -> None:
    network, timeless = network_of(case), collate([window(3, 0)], TimeAccess.NONE)
    for asked in (network, network.scores, network.attention):
        if case.access == TimeAccess.NONE:
            asked(timeless)
            continue
        with pytest.raises(InputError, match="built to see times and the batch has none") as caught:
            asked(timeless)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "recipe", [pytest.param(recipe, id=name) for name, recipe in RECIPES.items() if is_needy(recipe)]
)
def test_what_works_by_time_is_refused_without_a_clock(recipe: Model) -> None:
    with pytest.raises(InputError, match=r"time access none withholds.*use history or request") as caught:
        Case(recipe, TimeAccess.NONE).blueprint.build()
    assert "\n" not in str(caught.value)


@ONCE
def test_weights_are_a_function_of_the_seed(case: Case) -> None:
    torch.manual_seed(123)
    before = torch.get_rng_state()
    one = replace(case.blueprint, seed=4).build()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    two, other = (replace(case.blueprint, seed=seed).build() for seed in (4, 5))
    for key, value in one.state_dict().items():
        assert torch.equal(two.state_dict()[key], value), key
    assert not torch.equal(one.events.items.weight, other.events.items.weight)


@ONCE
def test_weights_are_drawn_and_named_in_one_order(case: Case) -> None:
    """An optimiser knows them by their places, a seed by the order in which they are drawn."""
    parts = list(dict.fromkeys(name.partition(".")[0] for name in network_of(case).state_dict()))
    order = ["events", "tables", "blocks", "norm", "repeat_head"]
    assert parts == [part for part in order if part in parts]
    assert {"events", "blocks"} <= set(parts)
    layers = [name.split(".")[1] for name in network_of(case).state_dict() if name.startswith("blocks.")]
    assert layers == sorted(layers)
    assert len(set(layers)) == SIZES["num_layers"]


@ONCE
def test_arms_differ_by_rotation_and_repeat_head_alone(case: Case) -> None:
    """A paired comparison compares that: all else has the same start."""
    bare = replace(case.recipe, encoding=NoEncoding(), repeat_head=None)  # type: ignore[type-var]
    control = network_of(Case(bare, case.access)).state_dict()
    arm = network_of(case).state_dict()
    assert {k for k in arm if ".rotation." not in k and not k.startswith("repeat_head.")} == set(control)
    for key, value in control.items():
        assert torch.equal(arm[key], value), key


@ONCE
def test_a_checkpoint_gives_back_the_network(case: Case, tmp_path: Path) -> None:
    trained = copy.deepcopy(network_of(case))
    with torch.no_grad():
        for parameter in trained.parameters():
            parameter.add_(0.1 * torch.rand_like(parameter))
    save_checkpoint(tmp_path, case.blueprint, trained)
    blueprint, loaded = load_checkpoint(tmp_path)
    assert blueprint == case.blueprint
    assert not loaded.training
    batch = case.collate([window(6, 0), window(2, 1)])
    assert torch.equal(loaded.scores(batch), trained.scores(batch))


@ONCE
def test_a_copy_is_another_network_that_says_the_same(case: Case) -> None:
    network, batch = network_of(case), case.collate([window(6, 0), window(2, 1)])
    twin, before = copy.deepcopy(network), network.scores(batch)
    assert torch.equal(twin.scores(batch), before)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.add_(0.1 * torch.rand_like(parameter))
    assert not torch.equal(twin.scores(batch), before)
    assert torch.equal(network.scores(batch), before)


def losses(network: Network, batch: Batch, targets: Tensor) -> Tensor:
    """-log p of a target after every event of rows of one length, of a full softmax."""
    features, copies = network(batch)
    drawn = (features.flatten(0, 1) @ network.item_embeddings.T).log_softmax(-1)
    said = drawn[torch.arange(len(targets)), targets]
    return -said if copies is None else -copies.mixed(said, torch.arange(len(targets)), targets)


@ONCE
def test_gradient_reaches_every_weight(case: Case) -> None:
    network = copy.deepcopy(network_of(case)).double()
    batch = case.collate([window(6, 0), window(6, 1)])
    targets = torch.cat((batch.items[:, 1:], batch.items[:, :1]), 1).flatten()
    losses(network, batch, targets).mean().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if not name.endswith("key.bias"):  # softmax does not see it, unless a rotation turns it
            assert parameter.grad.abs().max() > 1e-12, name


@KINDS
def test_dropout_acts_in_training_alone(kind: Callable[..., Model]) -> None:
    case = Case(kind(**SIZES, dropout=0.5), TimeAccess.REQUEST)
    network, batch = case.blueprint.build(), case.collate([window(6, 0)])
    assert not torch.equal(network(batch).features, network(batch).features)
    network.eval()
    assert torch.equal(network(batch).features, network(batch).features)


@pytest.mark.parametrize("head", [None, RepeatHead()], ids=["plain", "repeat"])
@KINDS
def test_it_learns_ten_users_by_heart(kind: Callable[..., Model], head: RepeatHead | None) -> None:
    """Within eighty steps: seconds."""
    users, length, most = 10, 7, 80
    steps: list[Progress] = []
    rng = np.random.default_rng(0)
    items = np.stack([np.append(user, rng.integers(0, ITEMS, length - 1)) for user in range(users)])
    times = NOW + 3600 * np.arange(users * length)
    offsets = np.arange(users + 1) * length
    sizes = SIZES | {"num_layers": 1}
    case = Case(kind(**sizes, dropout=0.0, repeat_head=head), TimeAccess.REQUEST)
    network = case.blueprint.build()
    train = Spans(np.arange(users), offsets[:-1], offsets[1:], offsets[1:])
    histories = Histories(items.flatten(), times, offsets, ITEMS)
    fit(
        network,
        TrainingWindows(histories, train, SIZES["max_len"], case.access),
        Training(epochs=most, batch_size=users, learning_rate=0.02, patience=1, loss=FullSoftmax()),
        seed=0,
        validate=map(float, count()).__next__,  # each epoch for better than the last
        keep=lambda: None,
        report=steps.append,
    )
    assert len(steps) == most  # one an epoch
    right = []
    for place in range(1, length):
        stops = offsets[:-1] + place
        batch = row_batch(histories, offsets[:-1], stops, case.access)
        right.append(network.scores(batch).argmax(-1).numpy() == items[:, place])
    assert np.mean(right) > 0.97


@KINDS
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"embedding_dim": 64, "num_heads": 3}, "embedding_dim 64: expected a multiple of num_heads 3"),
        ({"num_heads": 0}, "num_heads 0"),
        ({"embedding_dim": 0}, "embedding_dim 0"),
        ({"num_layers": 0}, "num_layers 0"),
        ({"max_len": 0}, "max_len 0"),
        ({"dropout": 1.0}, r"dropout 1\.0"),
        ({"dropout": -0.1}, r"dropout -0\.1"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    kind: Callable[..., Model], changed: dict[str, float], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        kind(**changed)


@KINDS
def test_what_no_clock_and_no_head_fits_is_refused(kind: Callable[..., Model]) -> None:
    odd = kind(**(SIZES | {"embedding_dim": 6}), repeat_head=RepeatHead(RoPE()))
    with pytest.raises(InputError, match="head_dim 3"):
        Case(odd, TimeAccess.REQUEST).blueprint.build()
    clocked = kind(**SIZES, repeat_head=RepeatHead(ClockRoPE()))
    with pytest.raises(InputError, match="time unit 'min'"):
        replace(Case(clocked, TimeAccess.REQUEST).blueprint, unit="min").build()
    with pytest.raises(InputError, match="time access 'all'"):
        replace(Case(clocked, TimeAccess.REQUEST).blueprint, time_access="all").build()
