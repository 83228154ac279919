"""The group of commands; each file beside it has those of one purpose, and is loaded when used."""

from cyclopts import App

PLACES = {
    "list": "look:list_agents",
    "show": "look:show",
    "create": "life:create",
    "task": "work:task",
    "wait": "work:wait",
    "attach": "attach:attach",
    "logs": "logs:logs",
    "history": "look:history",
    "cancel": "work:cancel",
    "diff": "results:diff",
    "merge": "results:merge",
    "push": "results:push",
    "restart": "life:restart",
    "delete": "life:delete",
    "usage": "look:usage",
}

app = App(name="agents", help="Create agents, give them work, watch them, take what they made.")
for name, place in PLACES.items():
    app.command(f"quarterdeck.cli.agents.{place}", name=name)
