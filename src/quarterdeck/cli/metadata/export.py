"""`export`: all words as a file that can be edited and used."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.metadata.file import open_file
from quarterdeck.cli.options import Injected
from quarterdeck.cli.render import remark
from quarterdeck.errors import Conflict
from quarterdeck.overrides.export import as_yaml
from quarterdeck.user_files import create_text


async def export(
    *,
    baseline: Annotated[
        bool,
        Parameter(negative=(), show_default=False, help="The package's own words, not the file's."),
    ] = False,
    output: Annotated[
        Path | None, Parameter(help="Write to this new file instead.", show_default=False)
    ] = None,
    invocation: Injected,
) -> None:
    """Print the words that a client is shown, as a file that says all of them."""
    file = open_file(invocation)
    text = as_yaml(await (file.baseline() if baseline else file.effective()))
    if output is None:
        print(text, end="")
        return
    if not create_text(output, text):
        raise Conflict(
            f"The file {str(output)!r} exists already",
            details={"path": str(output)},
            hint="choose another name; nothing is overwritten",
        )
    remark(f"Wrote {output}")
