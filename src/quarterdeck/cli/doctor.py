"""`quarterdeck doctor`: every check, however badly the ones before it went."""

import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict

from quarterdeck.cli import checks, daemon_checks, role_checks
from quarterdeck.cli.checks import Check, failed
from quarterdeck.cli.options import AsJson, Injected
from quarterdeck.cli.program import Invocation
from quarterdeck.cli.render import printable
from quarterdeck.errors import InvalidSettings, QuarterdeckError

SUMMARIES = {
    "ok": "Everything is as it should be",
    "warn": "It works, with warnings",
    "fail": "Something is wrong",
}


async def doctor(*, as_json: AsJson = False, invocation: Injected) -> int:
    """Say what is there, what is wrong and what to do.

    Nothing is changed. The exit code is 1 when a check fails.
    """
    found = [await _guarded(name, check) for name, check in _checks(invocation)]
    worst = next(status for status in ("fail", "warn", "ok") if _any(found, status))
    redactor = invocation.redactor()
    if as_json:
        report = {"ok": worst != "fail", "checks": [asdict(check) for check in found]}
        print(redactor.json(json.dumps(report, ensure_ascii=False)))
    else:
        print(redactor.text(_text(found)))
        print(f"\n{SUMMARIES[worst]}")
    return int(worst == "fail")


def _any(found: Sequence[Check], status: str) -> bool:
    return any(check.status == status for check in found)


def _text(found: Sequence[Check]) -> str:
    width = max(len(check.name) for check in found)
    lines: list[str] = []
    for check in found:
        lines.append(f"{check.status:<4}  {check.name:<{width}}  {printable(check.found)}")
        if check.hint:
            lines.append(f"{'':<{width + 6}}  hint: {printable(check.hint)}")
    return "\n".join(lines)


Run = Callable[[], Check | Awaitable[Check]]


def _checks(invocation: Invocation) -> Sequence[tuple[str, Run]]:
    home = invocation.find_home  # looked for by each check: it may be a finding that there is none
    always: list[tuple[str, Run]] = [
        ("python", checks.python),
        ("quarterdeck", checks.version),
        ("sqlite", checks.sqlite),
        ("home", lambda: checks.home(home())),
        ("disk", lambda: checks.disk(home())),
        ("daemon", lambda: daemon_checks.daemon(home())),
        ("path", lambda: daemon_checks.path(home())),
        ("keys", lambda: daemon_checks.keys(home())),
        ("clients", daemon_checks.clients),
    ]
    try:
        settings = invocation.settings()
    except InvalidSettings as error:
        hint = f"{error.hint}; the database and the server were not looked at"
        problem = failed("config", error, hint=hint)
        return [*always, ("config", lambda: problem)]
    program = invocation.program
    return [
        *always,
        ("config", lambda: checks.config(settings)),
        ("projects", lambda: role_checks.projects(settings)),
        ("roles", lambda: role_checks.roles(settings, program.agent_programs(settings))),
        ("database", lambda: checks.database(program.database(settings), settings)),
        ("mcp", lambda: checks.server(program, settings)),
        ("telemetry", lambda: checks.telemetry(settings)),
    ]


async def _guarded(name: str, check: Run) -> Check:
    """Return the finding; a check that breaks is a finding too."""
    try:
        found = check()
        return await found if inspect.isawaitable(found) else found
    except QuarterdeckError as error:
        return failed(name, error)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return Check(name, "fail", f"{place}{error.strerror}", "see that you may use it")
    except Exception as error:  # noqa: BLE001 - the sick are why a doctor is called
        kind = type(error).__name__
        return Check(name, "fail", f"the check itself failed ({kind})", "report this as a bug")
