"""From a log of (user, item, time) to histories."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
