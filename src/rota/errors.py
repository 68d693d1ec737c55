"""The one error that a user causes."""


class InputError(ValueError):
    """Something the user gave cannot be used.

    The message is one line that names what was given, what was expected and the remedy. The command
    line prints it after ``error: `` and exits with code 2; from Python it is an ordinary ``ValueError``.
    """


class NotFiniteError(InputError):
    """A model's scores are no numbers."""
