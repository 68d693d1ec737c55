"""A trained model as a folder, and what it recommends."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
