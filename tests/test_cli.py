"""The command line as a user meets it: what it refuses, what it says, and what it leaves on the disk."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from rota import __main__ as entry
from rota import __version__, cli
from rota.recipes.live import LiveWatcher
from rota.recipes.study import ATTENTION, LEARNING, PRIOR
from rota.serving.artefact import load_artefact
from rota.training.progress import Progress
from town import columns, town

WHO = "--user user --item item --time when"
SMALL = "--arms none --seeds 1 --epochs 1 --embedding-dim 16 --out new"
NAMES = "user, item, when"
GOOD = f"log.parquet {WHO}"


def tree(folder: Path) -> dict[str, str]:
    """Every path below a folder, with a digest of what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good log, many bad ones, and an earlier result."""
    folder = tmp_path_factory.mktemp("place")
    good = pa.table(columns(town(12, 4)))
    when, count = good["when"].to_pylist(), len(good)

    def write(name: str, **changed: pa.Array) -> None:
        table = pa.table({column: changed.get(column, good[column]) for column in good.column_names})
        pa.parquet.write_table(table, folder / name)

    write("log.parquet")
    write("constant.parquet", when=pa.array([when[0]] * count))
    write("mixed.parquet", when=pa.array([when[0] * 1000, *when[1:]]))
    write("minute.parquet", when=pa.array([when[0] + row % 60 for row in range(count)]))
    write("missing_time.parquet", when=pa.array([None, *when[1:]]))
    write("nobody.parquet", user=pa.array([None] * count, pa.string()))
    write("strangers.parquet", user=pa.array([f"u{row // 4}" for row in range(count)]))
    write("loner.parquet", user=pa.array(["a"] * 6 + [f"u{row // 4}" for row in range(count - 6)]))
    pa.parquet.write_table(good.slice(0, 0), folder / "empty.parquet")
    (folder / "torn.parquet").write_bytes((folder / "log.parquet").read_bytes()[:-9])
    pa.csv.write_csv(good, folder / "log.csv")
    pa.csv.write_csv(good, folder / "log.txt")
    (folder / "blank.csv").write_bytes(b"")
    (folder / "words.csv").write_text((folder / "log.csv").read_text() + "u1,100,yesterday\n")
    (folder / "folder.parquet").mkdir()
    (folder / "earlier").mkdir()
    (folder / "earlier" / "results.json").write_text("{}")
    return folder


# A log, options, and what the line must name: what was given, and what to do.
BAD = {
    "missing file": (f"nope.parquet {WHO}", "nope.parquet", "no such file", "check the path"),
    "missing source": (f"nope {WHO}", "'nope'", "no such file", "flights"),
    "unknown kind": (f"log.txt {WHO}", "log.txt", ".parquet", ".csv"),
    "folder as log": (f"folder.parquet {WHO}", "folder.parquet is a folder", ".csv"),
    "torn parquet": (f"torn.parquet {WHO}", "torn.parquet", "damaged"),
    "blank csv": (f"blank.csv {WHO}", "blank.csv", "is empty"),
    "no columns given": ("log.parquet", "--user", NAMES),
    "missing column": ("log.parquet --user who --item item --time when", "'who'", NAMES),
    "one column twice": ("log.parquet --user user --item user --time when", "different columns", NAMES),
    "unreadable time": (f"words.csv {WHO}", "words.csv", "'when'", "row", "'yesterday'", "ISO 8601"),
    "missing time": (f"missing_time.parquet {WHO}", "'when', row 1", "no time", "remove the row"),
    "time of another type": ("log.parquet --user when --item item --time user", "'user'", "as a time"),
    "constant time": (f"constant.parquet {WHO}", "events have the time", "--time COLUMN"),
    "a time in another unit": (f"mixed.parquet {WHO}", "after ", "--until", "--unit"),
    "under a minute": (f"minute.parquet {WHO}", "lasts 59 seconds", "--unit"),
    "wrong unit": (f"{GOOD} --unit ns", "unit ns", "lasts 0.000332 seconds", "--unit"),
    "unknown unit": (f"{GOOD} --unit h", "'h'", "s, ms, us, ns"),
    "unknown zone": (f"{GOOD} --zone Mars/Phobos", "'Mars/Phobos'", "America/New_York"),
    "no ids": (f"nobody.parquet {WHO}", "nobody.parquet is empty", "check"),
    "no rows": (f"empty.parquet {WHO}", "empty.parquet is empty", "check"),
    "no user with enough": (f"strangers.parquet {WHO}", "at least 5 events", "the most is 4", "longer log"),
    "one user with enough": (f"loner.parquet {WHO}", "one user", "expected at least two"),
    "sample too large": (f"{GOOD} --sample-users 99", "99", "expected 1 to 12"),
    "sample of none": (f"{GOOD} --sample-users 0", "sample of 0", "expected 1 to 12"),
    "sample of one": (f"{GOOD} --sample-users 1", "at least"),
    "unknown arm": (f"{GOOD} --arms none,clok", "'clok'", "expected one of clockrope,", "none, rope,"),
    "unknown part": (f"{GOOD} --arms rope+clok", "'rope+clok'", "expected one of clockrope,"),
    "no arm": (f"{GOOD} --arms ,", "at least one"),
    "arm twice": (f"{GOOD} --arms rope,none,rope", "rope, none, rope", "each once"),
    "untrained arm": (f"{GOOD} --arms none,routine", "routine", "leave it out"),
    "clock without time": (
        f"{GOOD} --arms none,clockrope --time-access none", "arm clockrope", "history or request"
    ),
    "hidden clock without time": (
        f"{GOOD} --arms rope+trope --time-access none", "arm rope+trope", "history or request"
    ),
    "control not an arm": (f"{GOOD} --arms none,rope --control trope", "'trope'", "none, rope"),
    "no seeds": (f"{GOOD} --seeds 0", "--seeds", "1"),
    "seeds in words": (f"{GOOD} --seeds two", "--seeds", "integer", "rota compare --help"),
    "unknown time access": (f"{GOOD} --time-access now", "'now'", "none, history, request"),
    "unknown seen": (f"{GOOD} --seen hide", "'hide'", "keep, drop"),
    "prior not a call": (f"{GOOD} --arms clockrope --prior cosine(24h", "'cosine(24h'", "(24h, 2h)"),
    "unknown prior": (f"{GOOD} --arms clockrope --prior sine(24h)", "'sine'", "cosine"),
    "prior of an odd length": (f"{GOOD} --arms clockrope --prior cosine(24x)", "'24x'", "24h"),
    "prior with too much": (
        f"{GOOD} --arms clockrope --prior cosine(24h,2h)", "'cosine(24h,2h)'", "cosine(period)"
    ),
    "prior beside whole ticks": (
        f"{GOOD} --arms clockrope --prior cosine(24.00001h)", "arm clockrope", "whole number"
    ),
    "prior of no use": (f"{GOOD} --arms none,rope --prior cosine(24h)", "cosine(24h)", "clockrope"),
    "too many priors": (
        f"{GOOD} --arms rope+clockrope" + " --prior cosine(24h)" * 3, "arm rope+clockrope", "head_dim"
    ),
    "unknown device": (f"{GOOD} --device tpu", "'tpu'", "cpu or cuda"),
    "unknown precision": (f"{GOOD} --precision 8-bit", "'8-bit'", "32-true, bf16-mixed"),
    "half precision on a CPU": (f"{GOOD} --precision 16-mixed", "16-mixed", "bf16-mixed", "cuda"),
    "unknown option": (f"{GOOD} --epochz 3", "--epochz", "rota compare --help"),
    "a word too many": (f"log.parquet more {WHO}", "more", "rota compare --help"),
    "result there": (f"{GOOD} --out earlier", "earlier is not empty", "another folder"),
    "file there": (f"{GOOD} --out log.csv", "log.csv is a file", "another name"),
    "below a file": (f"{GOOD} --out log.csv/a/b", "log.csv/a/b", "another folder"),
    "diverged": (f"{GOOD} --learning-rate 1e30", "arm none, seed 0", "lower its learning rate"),
}  # fmt: skip
HYPERPARAMETERS = [
    "--embedding-dim 0", "--embedding-dim -16", "--embedding-dim 15", "--num-heads 0", "--num-heads 3",
    "--num-layers 0", "--num-layers -1", "--max-len 0", "--max-len -5", "--dropout nan", "--dropout -0.1",
    "--dropout 1", "--epochs 0", "--patience 0", "--batch-size 0", "--learning-rate nan", "--learning-rate 0",
    "--learning-rate -1", "--learning-rate inf", "--weight-decay nan", "--weight-decay -1",
    "--weight-decay inf", "--num-negatives 0", "--temperature nan", "--temperature 0", "--temperature inf",
]  # fmt: skip
for hyperparameter in HYPERPARAMETERS:
    option, value = hyperparameter.split()
    BAD[hyperparameter] = (
        f"{GOOD} {hyperparameter}",
        option[2:].replace("-", "_"),
        value,
        "expected",
    )


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given, *said = BAD[case]
    monkeypatch.chdir(place)
    before = tree(place)
    assert cli.run(["compare", *SMALL.split(), *given.split()]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in said:
        assert part in err
    assert "Traceback" not in out + err
    assert tree(place) == before


def test_cuda_is_refused_where_there_is_none(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert cli.run(["compare", "log.parquet", *WHO.split(), "--device", "cuda"]) == 2
    assert capsys.readouterr().err == (
        "error: device cuda: this machine has no CUDA device that torch can use; use --device cpu\n"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["comp"], "'comp'. Did you mean 'compare'? (see rota --help)"),
        (["--bogus"], "--bogus"),
        (["compare"], "Missing argument 'log' (see rota compare --help)"),
    ],
)
def test_a_slip_of_the_keyboard_is_one_line(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(given) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err


def test_a_full_disk_is_one_line_and_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "new/x")

    monkeypatch.chdir(place)
    monkeypatch.setattr("rota.recipes.trial.save_artefact", full)
    before = tree(place)
    assert cli.run(["compare", "log.parquet", *WHO.split(), *SMALL.split()]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "No space left on device: 'new/x'" in err
    assert tree(place) == before


def test_ctrl_c_keeps_the_models_that_are_finished_and_the_best_epoch_of_the_one_that_is_not(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient(LiveWatcher):
        def step(self, arm: str, seed: int, progress: Progress) -> None:
            if self.done == 1 and progress.epoch == 1:  # the second arm has kept its first epoch by then
                signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rota.commands.compare.LiveWatcher", Impatient)
    handler = signal.getsignal(signal.SIGINT)
    options = f"{WHO} {SMALL} --arms none,rope,trope --epochs 2 --out {tmp_path / 'new'}".split()
    options += ["--processes", "1"]
    assert cli.run(["compare", str(place / "log.parquet"), *options]) == 130
    assert signal.getsignal(signal.SIGINT) is handler
    out, err = capsys.readouterr()
    assert err == "interrupted\n"
    assert f"finished so far are in {tmp_path / 'new' / 'models'}" in out
    models = tmp_path / "new" / "models"
    assert sorted(path.name for path in models.iterdir()) == ["none-seed0", "rope-seed0"]
    stopped = {folder.name: load_artefact(folder).provenance.stopped for folder in models.iterdir()}
    assert stopped == {"none-seed0": "", "rope-seed0": "KeyboardInterrupt"}
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["models", "plan.toml"]


def test_ctrl_c_before_any_model_leaves_nothing(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Impatient(LiveWatcher):
        def step(self, arm: str, seed: int, progress: Progress) -> None:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rota.commands.compare.LiveWatcher", Impatient)
    options = f"{WHO} {SMALL} --out {tmp_path / 'a' / 'new'}".split()
    assert cli.run(["compare", str(place / "log.parquet"), *options]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [[], ["--help"]])
def test_without_a_command_it_explains_itself(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(given) == 0
    out, err = capsys.readouterr()
    assert "Usage: rota" in out
    assert "compare" in out
    assert not err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr() == (f"rota {__version__}\n", "")


def test_help_names_every_pinned_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compare", "--help"]) == 0
    out = capsys.readouterr().out
    pinned = "user item time unit zone arms control seeds time-access seen device out"
    for option in pinned.split():
        assert f"--{option} " in out


def test_help_names_every_file_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["compare", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for name in ("results.json", "ranks.parquet", ATTENTION, LEARNING, PRIOR):
        assert name in out


def test_names_with_brackets_are_names(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "a[red]:heart:.parquet"
    log.write_bytes((place / "log.parquet").read_bytes())
    assert cli.run(["compare", str(log), *WHO.split(), *SMALL.split(), "--out", "b[/b]"]) == 0
    out, err = capsys.readouterr()
    assert f"log        {log.name}" in out
    assert f"  {Path('b[/b]') / 'results.json'}\n" in out
    assert not err


def test_the_default_folder_is_named_by_log_and_time(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = SMALL.replace("--out new", "").split()
    assert cli.run(["compare", str(place / "log.csv"), *WHO.split(), *options]) == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("log-2")
    assert (folder / "results.json").is_file()


def test_bfloat16_runs(place: Path, tmp_path: Path) -> None:
    options = f"{WHO} {SMALL} --arms clockrope --precision bf16-mixed --out {tmp_path / 'new'}".split()
    assert cli.run(["compare", str(place / "log.parquet"), *options]) == 0
    assert (tmp_path / "new" / "results.json").is_file()


def test_a_missing_wing_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "rota.cli")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == 2
    assert capsys.readouterr().err == "error: the command line needs typer: pip install 'rota[all]'\n"


def rota(given: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program itself, its output piped, as in a narrow terminal."""
    forced = ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    environment = {name: value for name, value in os.environ.items() if name not in forced}
    return subprocess.run(
        [sys.executable, "-m", "rota", *given.split()],
        cwd=folder, env=environment | {"COLUMNS": "80"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_program_refuses_in_one_line(place: Path) -> None:
    before = tree(place)
    done = rota(f"compare constant.parquet {WHO} {SMALL}", place)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.startswith("error: constant.parquet: All 102 events have the time")
    assert done.stderr.count("\n") == 1
    assert tree(place) == before


@pytest.mark.slow
def test_piped_output_is_plain_and_narrow(place: Path, tmp_path: Path) -> None:
    done = rota(f"compare {place / 'log.parquet'} {WHO} {SMALL} --arms none,rope+clockrope", tmp_path)
    assert done.returncode == 0
    assert not done.stderr
    assert "\x1b" not in done.stdout
    assert "\r" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    for said in ("unit       s, inferred", "✓ rope+clockrope, seed 0", "routine", "new/results.json"):
        assert said in done.stdout


@pytest.mark.slow
def test_the_program_is_interrupted_by_ctrl_c(place: Path, tmp_path: Path) -> None:
    given = f"compare {place / 'log.parquet'} {WHO} {SMALL} --arms none,rope --epochs 300 --patience 300"
    with subprocess.Popen(
        [sys.executable, "-m", "rota", *given.split()],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        while "ranked" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "interrupted\n"
    assert "Traceback" not in out
    assert not list(tmp_path.iterdir())
