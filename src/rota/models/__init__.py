"""Models, trained and untrained, behind one interface."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
