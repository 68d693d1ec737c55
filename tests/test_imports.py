"""The core is light: what a user of one encoding imports."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

WINGS = (
    "pyarrow",
    "ibis",
    "duckdb",
    "rich",
    "typer",
    "matplotlib",
    "safetensors",
    "tomli_w",
    "pandas",
    "polars",
)
ROOT = Path(__file__).parent.parent


def run(code: str) -> str:
    """What a fresh interpreter prints, without the checks of shapes."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_core_imports_no_wing_and_adds_little_to_torch() -> None:
    code = f"""
import sys, torch, numpy
before = set(sys.modules)
from rota import ClockRoPE, NoEncoding, RoPE, Split, TRoPE, parse_kernel, rotate
ClockRoPE().build(head_dim=8, num_heads=1)
added = {{name.partition(".")[0] for name in set(sys.modules) - before}} - set(sys.stdlib_module_names)
slow = {{"scipy.stats", "scipy.signal", "torch._inductor", "torch._dynamo"}}
from rota import SoftmaxAttention, Transformer, collate
print("added", *sorted(added), "slow", *sorted(slow & set(sys.modules) - before),
      "wings", *set({WINGS}) & sys.modules.keys())
"""
    added, slow, wings = (part.split() for part in re.split("added|slow|wings", run(code))[1:])
    libraries = set(packages_distributions())
    assert set(added) & libraries <= {"rota", "scipy", "jaxtyping", "wadler_lindig", "numpy", "torch"}
    assert not slow
    assert not wings


def test_theory_needs_no_torch_either() -> None:
    code = """
import sys, rota
from rota.kernels import WrappedGaussian
rota.draw(WrappedGaussian("24h", "2h").spectrum(), 4, 2, seed=0)
print(*{"torch", *WINGS} & sys.modules.keys())
"""
    assert run(code.replace("*WINGS", str(WINGS)[1:-1])) == ""


def test_stubs_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "stubs.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
