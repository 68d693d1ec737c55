"""A recipe is one TOML table, and what is no recipe is refused in one line that names the table."""

import dataclasses
import tomllib
from pathlib import Path

import pytest
import tomli_w

from rota.encodings import Calendar, ClockRoPE, Encoding, NoEncoding, RoPE, Split, TRoPE
from rota.errors import InputError
from rota.kernels import Cosine, Kernel, WrappedGaussian
from rota.models import Blueprint, Transformer
from rota.tables import Recipe, from_table, to_table
from rota.toml import read_recipe

DAILY = WrappedGaussian("24h", "2h")
RECIPES = [
    RoPE(),
    RoPE(base=500.0),
    NoEncoding(),
    TRoPE(shortest=60.0, spread=0.5),
    Calendar(),
    Cosine("7d"),
    DAILY,
    ClockRoPE([DAILY, Cosine(3600)], fold=False, truncation=3, shares=[0.25, 0.75], method="iid"),
    Split([RoPE(), Split([ClockRoPE([DAILY]), NoEncoding()])], shares=[0.5, 0.5]),
    Transformer(encoding=Split([RoPE(), ClockRoPE()]), embedding_dim=32, num_heads=4, dropout=0.1),
    Blueprint(Transformer(encoding=TRoPE()), num_items=10, unit="ms", time_access="request", seed=3),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: type(recipe).__name__)
def test_round_trip_through_a_file(recipe: Recipe, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(tomli_w.dumps(to_table(recipe)), encoding="utf-8")
    again = read_recipe(file, Recipe)
    assert type(again) is type(recipe)
    assert again == recipe
    assert to_table(again) == to_table(recipe)


def test_a_table_by_hand() -> None:
    text = """
        recipe = "encodings.split"
        shares = [0.5, 0.5]
        [[parts]]
        recipe = "encodings.rope"
        base = 500
        [[parts]]
        recipe = "encodings.clockrope"
        kernels = [{recipe = "kernels.wrapped_gaussian", period = "24h", width = 7200}]
    """
    wanted = Split([RoPE(base=500), ClockRoPE([DAILY])], shares=[0.5, 0.5])
    assert from_table(tomllib.loads(text), Encoding) == wanted  # type: ignore[type-abstract]
    table = to_table(wanted)
    assert table["recipe"] == "encodings.split"
    assert table["parts"][1]["kernels"] == [  # type: ignore[index]
        {"recipe": "kernels.wrapped_gaussian", "period": 86_400.0, "width": 7200.0}
    ]
    assert "truncation" not in table["parts"][1]  # type: ignore[index] - TOML has no None


ROPE = {"recipe": "encodings.rope"}
COSINE = {"recipe": "kernels.cosine", "period": "24h"}
CLOCK = {"recipe": "encodings.clockrope"}
NETWORK = {"recipe": "models.transformer"}


@pytest.mark.parametrize(
    ("table", "kind", "says"),
    [
        ({**ROPE, "bass": 3.0}, Encoding, "table 'encodings.rope': unknown key 'bass': .*base"),
        ({"recipe": "kernels.cosine"}, Kernel, "table 'kernels.cosine': lacks the key 'period'"),
        ({**COSINE, "period": "soon"}, Kernel, "duration 'soon'"),
        ({}, Encoding, "table of Encoding: expected a key recipe.*it is None"),
        ({"recipe": 3}, Encoding, "table of Encoding: expected a key recipe.*it is 3"),
        ({"recipe": "rope"}, Encoding, "table of Encoding: expected a key recipe.*'rope'"),
        ({"recipe": "encodings.nope"}, Encoding, r"unknown name 'nope' in encodings: .*\brope\b"),
        ({"recipe": "encodings.base"}, Encoding, "unknown name 'base' in encodings"),
        ({"recipe": "nowhere.rope"}, Encoding, "table 'nowhere.rope': there is no room 'nowhere'"),
        ({"recipe": "os.path"}, Encoding, "table 'os.path': there is no room 'os'"),
        ({"recipe": "encodings..rope"}, Encoding, "expected a key recipe"),
        ({"recipe": "/tmp.rope"}, Encoding, "expected a key recipe"),
        (COSINE, Encoding, "table 'kernels.cosine' is no Encoding"),
        ({"recipe": "encodings.calendar"}, Encoding, "table 'encodings.calendar' is no Encoding"),
        ({**CLOCK, "kernels": [ROPE]}, Encoding, r"'encodings.clockrope': kernels is .*Sequence\[Kernel\]"),
        ({**CLOCK, "kernels": COSINE}, Encoding, r"kernels is .*expected Sequence\[Kernel\]"),
        ({**CLOCK, "kernels": []}, Encoding, "ClockRoPE has no kernel"),
        ({**CLOCK, "fold": "no"}, Encoding, "fold is 'no': expected bool"),
        ({**CLOCK, "truncation": 2.5}, Encoding, r"truncation is 2\.5: expected int"),
        ({**CLOCK, "shares": ["a"]}, Encoding, r"shares is \('a',\): expected Sequence\[float\]"),
        ({**ROPE, "base": "10"}, Encoding, "base is '10': expected float"),
        ({**ROPE, "base": True}, Encoding, "base is True: expected float"),
        ({**NETWORK, "encoding": COSINE}, Transformer, "encoding is .*: expected Encoding"),
        ({**NETWORK, "encoding": {**ROPE, "bass": 1}}, Transformer, "'encodings.rope': unknown key 'bass'"),
        ({**NETWORK, "encoding": {}}, Transformer, "expected a key recipe"),
        ({**NETWORK, "num_heads": "4"}, Transformer, "num_heads is '4': expected int"),
        ({**NETWORK, "num_heads": 0}, Transformer, "num_heads 0"),
    ],
)  # fmt: skip
def test_what_is_no_recipe_is_refused_in_one_line(
    table: dict[str, object], kind: type[Recipe], says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        from_table(table, kind)
    assert "\n" not in str(caught.value)
    file = tmp_path / "wrong.toml"
    file.write_text(tomli_w.dumps(table), encoding="utf-8")
    with pytest.raises(InputError, match=rf"wrong\.toml: .*{says}"):
        read_recipe(file, kind)


def test_files_that_hold_no_table_are_refused(tmp_path: Path) -> None:
    for name, content, says in (
        ("absent.toml", None, r"absent\.toml: no such file"),
        ("text.toml", b"not toml", r"text\.toml: not TOML"),
        ("binary.toml", b"\xff\xfe\x00", r"binary\.toml: not TOML"),
        ("empty.toml", b"", r"empty\.toml: table of Encoding: expected a key recipe"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=says) as caught:
            read_recipe(tmp_path / name, Encoding)  # type: ignore[type-abstract]
        assert "\n" not in str(caught.value)


def test_recipes_are_frozen_and_equal_by_value() -> None:
    assert ClockRoPE([DAILY], shares=[1.0]) == ClockRoPE((DAILY,), shares=(1.0,))
    assert len({ClockRoPE([DAILY]), ClockRoPE((DAILY,))}) == 1
    for recipe in RECIPES:
        for field in dataclasses.fields(recipe):  # type: ignore[arg-type]
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(recipe, field.name, None)
