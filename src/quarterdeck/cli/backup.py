"""`quarterdeck backup`: everything that is kept, in one file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.progress import shown_progress
from quarterdeck.cli.render import print_json, remark

MEBIBYTE = 1024 * 1024


async def backup(
    file: Annotated[
        Path | None,
        Parameter(
            name="FILE", help="File to write, or a folder to put it in; by default, the backups."
        ),
    ] = None,
    /,
    *,
    with_secrets: Annotated[
        bool, Parameter(negative=(), show_default=False, help="Put the file 'env' in as well.")
    ] = False,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Write everything that is kept into one file.

    That is the database and, of the home, config.toml, metadata.yaml, policies and workflows.
    The file 'env' holds secrets and is left out unless asked for; the home's access key is
    never put in. Servers go on working meanwhile. The file is readable by its owner alone;
    whoever has it has all memory and traces, and a password that stands in config.toml.
    """
    target = None if file is None else file.absolute()
    with shown_progress() as bar:
        answer = await invocation.call(
            "backup",
            {"file": None if target is None else str(target), "withSecrets": with_secrets},
            lambda deck: deck.archives.backup(target, bar.tell, with_secrets=with_secrets),
        )
    if as_json:
        print_json(answer)
        return
    kept = {name: count for name, count in answer.contents.counts.items() if count}
    counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in kept.items())
    files = f"{len(answer.files)} files ({answer.size / MEBIBYTE:.1f} MiB)"
    remark(f"Saved {counted or 'nothing'} and {files}")
    print(answer.path)
