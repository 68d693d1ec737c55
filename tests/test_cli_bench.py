"""`rota bench rotary` and `rota bench encodings`: tables, raw timings, picture."""

import json
from pathlib import Path

import pytest

from rota.cli import run


def test_bench_rotary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw, picture = tmp_path / "rotary.json", tmp_path / "lengths.png"
    options = [
        "--rounds",
        "1",
        "--no-compiled",
        "--longest",
        "10000",
        "--json",
        str(raw),
        "--out",
        str(picture),
    ]
    assert run(["bench", "rotary", *options]) == 0
    out = capsys.readouterr().out
    assert "x copy" in out
    assert all(name in out for name in ("copy", "rota", "plain", "rota, learnable phases", "10,000"))
    kept = json.loads(raw.read_text(encoding="utf-8"))
    assert kept["schema"] == "rota.bench.rotary/1"
    assert len(kept["forward_seconds"]["rota"]) == 1
    assert [row["length"] for row in kept["seconds_by_length"]] == [1000, 10_000]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir()} == {"rotary.json", "lengths.png"}


def test_bench_encodings(tmp_path: Path, capsys: pytest.CaptureFixture[str], unchecked_shapes: None) -> None:
    raw = tmp_path / "encodings.json"
    options = ["--only", " trope", "--rounds", "2", "--threads", "1", "--json", str(raw)]
    assert run(["bench", "encodings", *options]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("trope", "18HP + 2P(H-1) + 4P", "2,624", "step / RoPE"))
    assert "not timed" not in out
    assert "clockrope" not in out
    kept = json.loads(raw.read_text(encoding="utf-8"))
    assert [row["name"] for row in kept["encodings"]] == ["trope"]
    assert {path.name for path in tmp_path.iterdir()} == {"encodings.json"}


def test_counts_alone_take_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "encodings", "--only", "none,clockrope", "--no-timed"]) == 0
    out = capsys.readouterr().out
    assert "not timed" in out
    assert "T-RoPE" not in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["bench", "softmax"], "error: No such command 'softmax' (see rota bench --help)"),
        (["bench"], "error: Missing command"),
        (["bench", "encodings", "--rounds", "1"], "error: "),
        (
            ["bench", "encodings", "--only", "rope,softmax"],
            "error: --only 'softmax': expected some of rope, ",
        ),
        (["bench", "rotary", "--rounds", "0"], "error: "),
    ],
)
def test_what_cannot_be_timed_is_one_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(says)
    assert error.count("\n") == 1
