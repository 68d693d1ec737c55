"""How many trainings a machine has room for."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from rota.data.reading import read_log
from rota.models.transformer import Transformer
from rota.recipes import capacity
from rota.recipes.capacity import free_memory, processes_for, training_bytes
from rota.recipes.plan import Plan
from rota.recipes.question import Question, ask_of
from rota.training.recipe import Training
from town import columns, town

PLAN = Plan(("none",))
GIB = 2**30


@pytest.fixture(scope="module")
def question() -> Question:
    return ask_of(read_log(pa.table(columns(town(12, 5))), user="user", item="item", time="when"))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """One with eight cores and much memory."""
    monkeypatch.setattr(capacity, "cores", lambda: 8)
    monkeypatch.setattr(capacity, "free_memory", lambda: 1000 * GIB)
    return monkeypatch


def test_it_is_the_least_of_trainings_cores_and_memory(
    question: Question, machine: pytest.MonkeyPatch
) -> None:
    def count(trainings: int, threads: int = 1) -> int:
        return processes_for(question, PLAN, trainings=trainings, threads=threads)

    assert (count(3), count(99), count(0)) == (3, 8, 1)
    assert (count(99, 2), count(99, 3), count(99, 16)) == (4, 2, 1)
    need = training_bytes(Transformer(), question, PLAN)
    machine.setattr(capacity, "free_memory", lambda: 4 * need)
    assert count(99) == 3  # a fifth is left to the system
    machine.setattr(capacity, "free_memory", lambda: need // 2)
    assert count(99) == 1
    machine.setattr(capacity, "free_memory", lambda: None)
    assert count(99) == 8


def test_a_gpu_has_one_at_a_time(question: Question, machine: pytest.MonkeyPatch) -> None:
    machine.setattr("torch.cuda.is_available", lambda: True)
    plan = replace(PLAN, protocol=replace(PLAN.protocol, device="cuda"))
    assert processes_for(question, plan, trainings=9, threads=1) == 1


def test_what_is_larger_needs_more(question: Question) -> None:
    def need(batch_size: int = 24, **sizes: int) -> int:
        plan = replace(PLAN, protocol=replace(PLAN.protocol, training=Training(batch_size=batch_size)))
        return training_bytes(Transformer(**sizes), question, plan)  # type: ignore[arg-type]

    least = need()
    assert GIB / 2 < least < 2 * GIB
    for larger in (need(batch_size=256), need(embedding_dim=256), need(num_layers=8), need(max_len=500)):
        assert larger > least + 2**20


def test_a_container_has_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"cpu.max": "max 100000", "memory.max": "max", "memory.current": "12345"}

    def group(name: str) -> list[int]:
        (tmp_path / name).write_text(files[name] + "\n")
        return plainly(tmp_path / name)

    plainly = capacity._numbers
    monkeypatch.setattr(capacity, "_numbers", lambda path: group(path.name))
    monkeypatch.setattr(capacity, "_available", lambda: 8 * GIB)
    whole = capacity.cores()
    assert (whole >= 1, free_memory()) == (True, 8 * GIB)
    files |= {"cpu.max": "150000 100000", "memory.max": str(3 * GIB), "memory.current": str(GIB)}
    assert (capacity.cores(), free_memory()) == (min(2, whole), 2 * GIB)
    files |= {"memory.max": str(20 * GIB), "cpu.max": "50000 100000"}
    assert (capacity.cores(), free_memory()) == (1, 8 * GIB)


def test_this_machine_has_some() -> None:
    free = free_memory()
    assert free is None or free > 2**20
    assert capacity._numbers(Path("no such file")) == []
