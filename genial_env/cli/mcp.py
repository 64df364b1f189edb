"""The command that serves a game to clients of the Model Context Protocol."""

from typing import Annotated

import typer

from genial_env._util.extras import install_hint
from genial_env.analysis.judge import make_judge
from genial_env.cli.common import UserError, app, one_line_errors
from genial_env.core.rules import Rules


@app.command("mcp")
def serve_mcp(
    hints: Annotated[bool, typer.Option("--hints", help="Offer hints, too: the best moves by a judge.")] = False,
    judge: Annotated[
        str, typer.Option(help="Judge of hints: fast, normal, deep, or an agent that can judge.")
    ] = "fast",
) -> None:
    """Let a language model play: a server of the Model Context Protocol over standard input and output (extra mcp)."""
    try:
        from genial_env.text.mcp_server import make_server
    except ImportError as error:
        raise UserError(f"the server needs more libraries: {install_hint('mcp')} ({error})") from error
    if hints:
        with one_line_errors():
            make_judge(judge, Rules())  # errors of the option, before anything is served
    make_server(hints=hints, judge=judge).run()
