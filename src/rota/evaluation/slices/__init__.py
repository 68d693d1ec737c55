"""Slices, one file each: kinds of questions that are looked at apart."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
