"""What is trained sharded and not: networks of every kind, and how."""

from rota.encodings.calendar import Calendar
from rota.encodings.trope import TRoPE
from rota.models.base import Model
from rota.models.blueprint import Blueprint
from rota.models.hstu import HSTU
from rota.models.repeat_head import RepeatHead
from rota.models.tisasrec import TiSASRec
from rota.models.transformer import Transformer
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.recipe import Training

SIZES = {"embedding_dim": 16, "num_layers": 1, "num_heads": 2, "max_len": 10, "dropout": 0.2}
TRAINING = Training(
    epochs=3, patience=3, batch_size=20, accumulate=4, learning_rate=1e-2, loss=FullSoftmax(), clip=0.3,
    clip_coefficients=1e-3,
)  # fmt: skip  # of 23 windows: the second step has three parts, an odd number


def plan(model: Model) -> Blueprint:
    return Blueprint(model, 24, "s", "request", 0)


PLANS = {
    "transformer": plan(
        Transformer(
            TRoPE(parametrisation="conditioned"), inputs=(Calendar(),), repeat_head=RepeatHead(), **SIZES
        )
    ),
    "tisasrec": plan(TiSASRec(**SIZES)),
    "hstu": plan(HSTU(**SIZES)),
}
