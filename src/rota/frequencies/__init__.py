"""n frequencies from a law, or from a ladder."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
