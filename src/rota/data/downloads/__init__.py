"""Published files brought to a cache: resumed where they broke off, and verified."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
