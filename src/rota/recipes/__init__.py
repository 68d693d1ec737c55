"""Where the wings meet."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
