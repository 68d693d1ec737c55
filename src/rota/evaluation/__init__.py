"""Scores to ranks, ranks to numbers, numbers to intervals."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
