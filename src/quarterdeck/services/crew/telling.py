"""What an agent does, in the words of its log."""

from quarterdeck.domain.agent_events import AgentEvent, Noticed, Planned, Said, UsedTool
from quarterdeck.domain.agent_log import LogKind, LogLevel, LogRole
from quarterdeck.services.crew.log_writer import LogWriter, Voice

# The output of a tool is evidence, not the story: its beginning is enough.
OUTPUT_LENGTH = 8 * 1024
_ENDED = frozenset({"completed", "failed", "cancelled"})


class Telling:
    """Tells one agent's log what it does in one task."""

    def __init__(self, log: LogWriter, agent_id: str) -> None:
        """Nothing was told yet."""
        self._log = log
        self._agent_id = agent_id
        self._tools: dict[str, str] = {}
        self._plan: tuple[tuple[str, str], ...] = ()

    async def tell(self, event: AgentEvent, task_id: str | None) -> None:
        """Write an event down, if it says anything new."""
        match event:
            case Said():
                await self._log.say(self._agent_id, _voice_of(event, task_id), event.text)
            case UsedTool():
                await self._tell_tool(event, task_id)
            case Planned(entries=entries) if entries != self._plan:
                self._plan = entries
                text = "\n".join(f"[{status}] {content}" for content, status in entries)
                await self._add(LogLevel.DEBUG, LogKind.PLAN, text, task_id)
            case Noticed():
                await self._add(event.level, event.kind, event.text, task_id)
            case _:
                pass

    async def _tell_tool(self, event: UsedTool, task_id: str | None) -> None:
        before = self._tools.get(event.call_id)
        if before == event.status or before in _ENDED:
            return
        self._tools[event.call_id] = event.status
        if before is not None and event.status not in _ENDED:
            return
        where = f" ({', '.join(event.paths)})" if event.paths else ""
        text = f"{event.tool_kind}: {event.title}{where} [{event.status}]"
        if event.status in _ENDED and event.text:
            text += f"\n{event.text[:OUTPUT_LENGTH]}"
        await self._add(LogLevel.DEBUG, LogKind.TOOL, text, task_id)

    async def _add(self, level: LogLevel, kind: LogKind, text: str, task_id: str | None) -> None:
        await self._log.add(self._agent_id, Voice(level, LogRole.AGENT, kind, task_id), text)


def _voice_of(said: Said, task_id: str | None) -> Voice:
    role = LogRole.USER if said.by == "user" else LogRole.AGENT
    kind = LogKind.THOUGHT if said.is_thought else LogKind.MESSAGE
    level = LogLevel.DEBUG if said.is_thought else LogLevel.INFO
    return Voice(level, role, kind, task_id, said.message_id)
