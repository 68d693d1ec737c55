"""Models as they are served, without a training: tests of what surrounds the weights need no good ones."""

import torch

from rota.data.log import Log
from rota.encodings.base import Encoding
from rota.encodings.rope import RoPE
from rota.models.blueprint import Blueprint
from rota.models.repeat_head import RepeatHead
from rota.models.transformer import Transformer
from rota.recipes.protocol import Protocol
from rota.recipes.provenances import Workshop
from rota.recipes.question import Question, ask_of
from rota.serving.artefact import Artefact


def question_of(log: Log) -> Question:
    """Leave-one-out of a log."""
    return ask_of(log)


def untrained(
    question: Question,
    access: str = "request",
    *,
    encoding: Encoding | None = None,
    repeat: bool = False,
    seen: str = "keep",
    max_len: int = 6,
) -> Artefact:
    """A model with large random weights, so that everything that it is told matters."""
    model = Transformer(
        encoding or RoPE(),
        embedding_dim=16,
        num_layers=2,
        num_heads=2,
        max_len=max_len,
        repeat_head=RepeatHead() if repeat else None,
    )
    plan = Blueprint(model, question.histories.num_items, question.log.unit, access, 3)
    network = plan.build().eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    workshop = Workshop("rope", plan, question, Protocol(access, seen))
    return workshop.artefact(network, 1, 0.25)
