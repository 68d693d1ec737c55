"""From a model and histories to a trained model."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
