"""Draws what analysis and evaluation return."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
