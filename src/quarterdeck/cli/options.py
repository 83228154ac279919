"""Options that several commands share."""

from typing import Annotated

from cyclopts import Parameter

from quarterdeck.cli.program import Invocation

Injected = Annotated[Invocation, Parameter(parse=False)]

AsJson = Annotated[
    bool, Parameter(name="--json", negative=(), show_default=False, help="Print JSON.")
]
ReadOnly = Annotated[
    bool | None, Parameter(negative=(), help="Offer only tools that change nothing.")
]
Toolsets = Annotated[str | None, Parameter(help="Groups of tools to offer, such as memory,trace.")]
Yes = Annotated[
    bool, Parameter(negative=(), show_default=False, help="Make the change without asking.")
]
OnlyPrint = Annotated[
    bool,
    Parameter(
        name="--print",
        negative=(),
        show_default=False,
        help="Print what belongs in the file, write nothing.",
    ),
]
