"""The command ``rota``: runs `rota.cli`, and turns what a user caused into one line."""

import io
import sys


def main() -> None:
    """Run the command line; exit with 2 after a user's error, which is told in one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a tick or a line shows ? for it
    try:
        from rota.cli import run
    except ModuleNotFoundError as error:
        print(f"error: the command line needs {error.name}: pip install 'rota[all]'", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
