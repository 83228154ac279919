"""What agents changed, and how it leaves their workspace."""

from quarterdeck.domain.effect import Effect
from quarterdeck.domain.fleet_answers import (
    MergeAgentResponse,
    PushAgentResponse,
    ShowAgentDiffResponse,
)
from quarterdeck.domain.redaction import Redactor
from quarterdeck.domain.workspaces import Diff
from quarterdeck.services.elsewhere import Elsewhere
from quarterdeck.services.fleet import Fleet
from quarterdeck.services.operation import Operation, operation

# A page that a model can read in one go.
PAGE_LENGTH = 20_000


class DiffService:
    """The work of agents."""

    def __init__(self, fleet: Fleet, elsewhere: Elsewhere, redactor: Redactor) -> None:
        """A patch is shown as `redactor` leaves it."""
        self.operations = fleet.operations
        self._fleet = fleet
        self._elsewhere = elsewhere
        self._redactor = redactor

    @operation("agent.diff", Effect.READ)
    async def show(self, op: Operation, name: str, *, page: int = 1) -> ShowAgentDiffResponse:
        """Return what an agent changed since it began, what it never committed included."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name, "page": page}
            return await self._elsewhere.ask(agent, "diff", asked, ShowAgentDiffResponse)
        berth, runtime = self._fleet.berth_of(agent)
        return self._answer(agent.name, await runtime.diff(berth), page)

    @operation("agent.merge", Effect.WRITE, long=True)
    async def merge(
        self, op: Operation, name: str, *, into: str | None = None
    ) -> MergeAgentResponse:
        """Merge an agent's work into a branch of its repository."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name, "into": into}
            return await self._elsewhere.ask(agent, "merge", asked, MergeAgentResponse)
        berth, runtime = self._fleet.berth_of(agent)
        merged = await runtime.merge(berth, into)
        return MergeAgentResponse(
            agent_name=agent.name,
            branch=merged.branch,
            into=merged.into,
            commit=merged.commit,
            message=f"Merged {merged.branch!r} into {merged.into!r}",
        )

    @operation("agent.push", Effect.WRITE, long=True)
    async def push(
        self, op: Operation, name: str, *, remote: str = "origin", branch: str | None = None
    ) -> PushAgentResponse:
        """Push an agent's branch to a remote of its repository."""
        agent = await self._fleet.find(name)
        if not self._fleet.is_ours(agent):
            asked = {"name": name, "remote": remote, "branch": branch}
            return await self._elsewhere.ask(agent, "push", asked, PushAgentResponse)
        berth, runtime = self._fleet.berth_of(agent)
        pushed = await runtime.push(berth, remote, branch)
        return PushAgentResponse(
            agent_name=agent.name,
            remote=pushed.remote,
            branch=pushed.branch,
            commit=pushed.commit,
            message=f"Pushed {pushed.branch!r} to {pushed.remote!r}",
        )

    def _answer(self, name: str, diff: Diff, page: int) -> ShowAgentDiffResponse:
        pages = _pages(self._redactor.text(diff.patch))
        return ShowAgentDiffResponse(
            agent_name=name,
            branch=diff.branch,
            base=diff.base,
            head=diff.head,
            commits=list(diff.commits),
            files=list(diff.files),
            patch=pages[page - 1] if page <= len(pages) else "",
            page=page,
            total_pages=len(pages),
            has_next_page=page < len(pages),
            truncated=diff.truncated,
            reason=diff.reason,
        )


def _pages(patch: str) -> list[str]:
    """Cut a patch at line ends; a line that is longer than a page is cut as well."""
    pages: list[str] = [""]
    for line in patch.splitlines(keepends=True):
        for start in range(0, len(line), PAGE_LENGTH):
            part = line[start : start + PAGE_LENGTH]
            if pages[-1] and len(pages[-1]) + len(part) > PAGE_LENGTH:
                pages.append("")
            pages[-1] += part
    return pages
