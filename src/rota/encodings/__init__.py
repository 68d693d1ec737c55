"""Recipes that build the modules which give attention a position or a clock."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
