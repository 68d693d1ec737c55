"""Logs that are made up, so that the truth about them is known."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
