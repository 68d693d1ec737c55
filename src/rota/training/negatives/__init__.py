"""Negatives: the items that a target is compared with."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
