"""The command `fabric-advisor`. Commands are loaded when called, so that `size` need not wait for the library."""

from __future__ import annotations

import importlib
import os
import sys

import click

from app import __version__
from app.errors import AdvisorError

COMMANDS = {
    "ask": "app.commands.answers:ask",
    "search": "app.commands.documents:search",
    "ingest": "app.commands.documents:ingest",
    "documents": "app.commands.documents:documents",
    "size": "app.commands.calculators:size",
    "grow": "app.commands.calculators:grow",
    "cost": "app.commands.calculators:cost",
    "compare": "app.commands.calculators:compare",
    "collective": "app.commands.calculators:collective",
    "training": "app.commands.training:training",
    "goodput": "app.commands.training:goodput",
    "inference": "app.commands.inference:inference",
    "lossless": "app.commands.lossless:lossless",
    "assess": "app.commands.calculators:assess",
    "validate": "app.commands.validate:validate",
    "evaluate": "eval.command:evaluate",
    "api": "app.commands.api:api",
    "mcp": "app.commands.mcp:mcp",
    "serve": "app.commands.service:serve",
    "doctor": "app.commands.service:doctor",
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="fabric-advisor")
def cli() -> None:
    """Which network for a GPU cluster, at what cost and speed, with every number traced."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 the answer is "no", 2 bad input or set-up (one line on stderr)."""
    try:
        code = cli.main(standalone_mode=False)
    except AdvisorError as error:
        click.echo(f"fabric-advisor: {error}", err=True)
        code = 2
    except click.exceptions.Abort:
        click.echo("fabric-advisor: stopped; what was finished is kept.", err=True)
        code = 130
    except click.ClickException as error:
        message = " ".join(error.format_message().split())
        click.echo(f"fabric-advisor: {message} See --help.", err=True)
        code = 2
    except BrokenPipeError:
        code = 0
    except Exception as error:
        if os.environ.get("FABRIC_ADVISOR_DEBUG", "").lower() in {"1", "true"}:
            raise
        click.echo(
            f"fabric-advisor: unexpected fault, {type(error).__name__}: {' '.join(str(error).split())[:300]} "
            "Run again with FABRIC_ADVISOR_DEBUG=1 to see where, and report it.",
            err=True,
        )
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
