"""The group of commands; each file beside it has those of one purpose, and is loaded when used."""

from cyclopts import App

PLACES = {
    "init": "change:init",
    "edit": "edit:edit",
    "list": "look:list_said",
    "show": "look:show",
    "set": "change:set_field",
    "unset": "change:unset_field",
    "diff": "look:show_diff",
    "validate": "validate:validate",
    "export": "export:export",
    "path": "look:path",
    "tokens": "cost:show_tokens",
}

app = App(name="metadata", help="See and change the words that a model reads.")
for name, place in PLACES.items():
    app.command(f"quarterdeck.cli.metadata.{place}", name=name)
