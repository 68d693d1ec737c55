"""Attention profiles f(lag), each with its law."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
