"""The group of commands; each file beside it has those of one purpose."""

from cyclopts import App

from quarterdeck.cli.metadata.change import init, set_field, unset_field
from quarterdeck.cli.metadata.cost import show_tokens
from quarterdeck.cli.metadata.edit import edit
from quarterdeck.cli.metadata.export import export
from quarterdeck.cli.metadata.look import list_said, path, show, show_diff
from quarterdeck.cli.metadata.validate import validate

app = App(name="metadata", help="See and change the words that a model reads.")
app.command(init)
app.command(edit)
app.command(list_said, name="list")
app.command(show)
app.command(set_field, name="set")
app.command(unset_field, name="unset")
app.command(show_diff, name="diff")
app.command(validate)
app.command(export)
app.command(path)
app.command(show_tokens, name="tokens")
