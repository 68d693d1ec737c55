"""Kinds of files that hold a log; a new one is a new file."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
