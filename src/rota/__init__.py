"""Rota: time in sequence models."""

from rota.rooms import attach

__version__ = "0.1.0"
__getattr__, __dir__ = attach(__name__)
