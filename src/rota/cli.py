"""Command line: finds the command, runs it, and turns what a user caused into one line."""

import ast
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from rota import __version__, commands
from rota.errors import InputError
from rota.rooms import import_part, names

_INTERRUPTED = 130  # what shells expect, and typer returns, after Ctrl-C


class LazyGroup(TyperGroup):
    """Commands are the files of `rota.commands`; only the one that is called is imported.

    The help of the program needs no torch: it shows the first line of each file.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in names("commands"):
            self.commands[name] = TyperCommand(name, help=_first_line(name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name, command and its arguments; typer's own hook, which says what was misspelt."""
        name, _, rest = super().resolve_command(ctx, args)
        module: Any = import_part(f"rota.commands.{name}")
        return name, typer.main.get_command(module.app), rest


def _first_line(name: str) -> str:
    source = Path(commands.__path__[0], f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


app = typer.Typer(
    cls=LazyGroup,
    name="rota",
    help="Time in sequence models: design priors for timestamps, and compare encodings under one honest "
    "protocol.",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code: 2 after what the user can mend, 130 after Ctrl-C."""
    try:
        code = int(app(list(arguments) or ["--help"], prog_name="rota", standalone_mode=False) or 0)
    except TyperException as error:
        return _fail(f"{error.format_message().rstrip('.')} (see {_help(arguments)})")
    except (InputError, ModuleNotFoundError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"the system refused: {error}: check space and permissions")
    if code == _INTERRUPTED:
        print("interrupted", file=sys.stderr)
    return code


def _fail(message: str) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _help(arguments: Sequence[str]) -> str:
    """The help nearest to what was asked for."""
    command = [name for name in names("commands") if name in arguments[:1]]
    return " ".join(["rota", *command, "--help"])


def _version(wanted: bool) -> bool:
    if wanted:
        print(f"rota {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Time in sequence models: design priors for timestamps, compare encodings."""
