"""`quarterdeck token`: who else may use the server, for what and for how long."""

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import moment, print_json, print_table, remark

if TYPE_CHECKING:
    from quarterdeck.domain.tokens import NewToken

app = App(name="token", help="Let clients in by a token, and take it back.")

ScopeName = Literal["read", "write", "approve", "admin"]


@app.command
async def create(
    name: Annotated[
        str | None, Parameter(help="What it is for; shown in lists and traces.")
    ] = None,
    /,
    *,
    scope: Annotated[
        tuple[ScopeName, ...],
        Parameter(
            help="What it allows, read unless given; may be repeated.",
            negative=(),
            show_default=False,
        ),
    ] = ("read",),
    expires: Annotated[
        str, Parameter(help="How long it is valid, in m, h, d or w; 'never' has no end.")
    ] = "30d",
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Make a token and print its secret, which is shown this once.

    Every scope includes read, and admin includes all.
    """
    from quarterdeck.domain.access import Scope
    from quarterdeck.domain.tokens import lifetime

    scopes = [Scope(each) for each in scope]
    made = await invocation.call(
        "token.create",
        {"name": name, "scopes": list(scope), "expires": expires},
        lambda deck: deck.tokens.create(name, scopes, life=lifetime(expires)),
    )
    if as_json:
        print_json(made)
    else:
        print(made.secret)
        remark(_summary(made))


@app.command(name="list")
async def list_(*, as_json: AsJson = False, invocation: Injected) -> None:
    """List all tokens, newest first; their secrets are not kept."""
    answer = await invocation.call(
        "token.list", {}, lambda deck: deck.tokens.list(), recorded=False
    )
    if as_json:
        print_json(answer)
        return
    rows = [
        (
            row.name,
            ",".join(row.scopes),
            row.state,
            moment(row.expires_at) if row.expires_at else "never",
            moment(row.last_used_at) if row.last_used_at else "never",
            row.id,
        )
        for row in answer.tokens
    ]
    print_table(("NAME", "SCOPES", "STATE", "EXPIRES", "LAST USED", "ID"), rows)


@app.command
async def revoke(
    token: Annotated[str, Parameter(name="NAME_OR_ID", help="Name or id of the token, as listed.")],
    /,
    *,
    as_json: AsJson = False,
    invocation: Injected,
) -> None:
    """Take a token back; from then on it opens nothing."""
    answer = await invocation.call(
        "token.revoke", {"name": token}, lambda deck: deck.tokens.revoke(token)
    )
    print_json(answer) if as_json else remark(answer.message)


def _summary(made: "NewToken") -> str:
    row = made.token
    until = f"until {moment(row.expires_at)}" if row.expires_at else "for ever"
    return f"Token {row.name!r} allows {', '.join(row.scopes)} {until}; it is shown this once"
