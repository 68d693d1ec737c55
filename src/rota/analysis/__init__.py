"""What a model or a log does with time."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
