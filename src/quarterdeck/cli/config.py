"""`quarterdeck config`: what is configured, and who said so."""

import json

from cyclopts import App

from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.render import print_table

app = App(name="config", help="Show what is configured, and where it was set.")


@app.command
def show(*, as_json: AsJson = False, invocation: Injected) -> None:
    """Print every setting, its value and where the value comes from.

    Passwords are masked.
    """
    shown = invocation.settings().shown()
    if as_json:
        print(json.dumps({key: {"value": v, "origin": o} for key, v, o in shown}, indent=2))
    else:
        rows = [(key, _as_text(value), origin) for key, value, origin in shown]
        print_table(("SETTING", "VALUE", "ORIGIN"), rows)


@app.command
def path(*, invocation: Injected) -> None:
    """Print where the config file is looked for."""
    from quarterdeck.settings import find_config

    print(find_config(home=invocation.home))


def _as_text(value: str | float | tuple[str, ...] | None) -> str:
    if isinstance(value, tuple):
        return ",".join(value) or "(unset)"
    if isinstance(value, bool):
        return str(value).lower()
    return "(unset)" if value is None else str(value)
