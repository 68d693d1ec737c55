"""What is wrong with a log, what that breaks, and what mends it: a finding is a file."""

from rota.rooms import attach

__getattr__, __dir__ = attach(__name__)
