"""Logs that Rota knows by name."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
