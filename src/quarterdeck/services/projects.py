"""Projects and roles: seeded by the config file, added by commands, chosen for new agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from quarterdeck.domain.access import Scope
from quarterdeck.domain.agents import RELEASED
from quarterdeck.domain.definitions import BUILT_IN, Changes, Defined, defined, same_name, seed
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.project_answers import (
    AllRolesResponse,
    DefinedResponse,
    DefinitionResponse,
    ListAgentProjectsResponse,
    ListAgentRolesResponse,
    project_row,
    role_row,
    shown_project,
    shown_role,
)
from quarterdeck.domain.projects import (
    Project,
    ProjectDefinition,
    RoleChoice,
    choose_role,
    roles_of,
)
from quarterdeck.domain.roles import BUILT_IN_ROLE, Role, RoleDefinition
from quarterdeck.errors import (
    AlreadyDefined,
    DefinedElsewhere,
    DefinitionInUse,
    ProjectNotFound,
    RoleNotFound,
)
from quarterdeck.ports.fleet import AgentRepository
from quarterdeck.ports.repositories import DefinitionRepository
from quarterdeck.ports.store import Transaction
from quarterdeck.services.operation import Operation, Operations, operation

D = TypeVar("D", bound=Defined)


@dataclass(frozen=True, slots=True)
class Seeds:
    """What the config file of a node defines, by name, and its own demo project."""

    node_id: str
    projects: Mapping[str, ProjectDefinition]
    roles: Mapping[str, RoleDefinition]
    demo: Project


class ProjectService:
    """What agents work on, and as what.

    As long as no project is stored there is the demo project, and the built-in role as long as
    no role is. Neither is stored: on a shared database, each node has its own.
    """

    def __init__(
        self,
        operations: Operations,
        projects: DefinitionRepository[Project],
        roles: DefinitionRepository[Role],
        seeds: Seeds,
        agents: AgentRepository,
    ) -> None:
        """What is stored lives in `projects` and `roles`; `seed` brings the `seeds` in.

        What an agent of `agents` needs is not removed by a command.
        """
        self.operations = operations
        self._projects = projects
        self._roles = roles
        self._seeds = seeds
        self._agents = agents

    async def seed(self) -> None:
        """Make the stored definitions agree with the file; nothing is written when they do."""
        changes = await self.operations.store.read(self._compare)
        if any(kind.put or kind.removed for kind in changes):
            await self.operations.store.write(self._seed)

    async def find(self, name: str) -> Project:
        """Return the project of this name, in whatever spelling.

        Raises:
            ProjectNotFound: It lists the projects there are.
        """
        return await self.operations.store.read(lambda tx: self._find(tx, name))

    async def find_role(self, project: Project, name: str) -> RoleChoice:
        """Return the role that a new agent of `project` gets when `name` is asked for.

        Raises:
            RoleNotFound: It lists the roles of the project.
        """
        roles = await self.operations.store.read(self._all_roles)
        return choose_role(project, roles, name)

    async def get(self, project_id: str) -> Project:
        """Return the project with this id; an agent's project may be `demo` for ever.

        Raises:
            ProjectNotFound: It was removed.
        """
        projects = await self.operations.store.read(self._projects.list)
        found = [each for each in (*projects, self._seeds.demo) if each.id == project_id]
        if not found:
            raise ProjectNotFound(project_id, [project.name for project in projects])
        return found[0]

    async def get_role(self, role_id: str) -> Role:
        """Return the role with this id.

        Raises:
            RoleNotFound: It was removed.
        """
        roles = await self.operations.store.read(self._roles.list)
        found = [each for each in (*roles, BUILT_IN_ROLE) if each.id == role_id]
        if not found:
            raise RoleNotFound(role_id, None, [role.name for role in roles])
        return found[0]

    @operation("project.list", Effect.READ)
    async def list_projects(self, op: Operation) -> ListAgentProjectsResponse:
        """Return every project, by name."""
        rows = [project_row(project) for project in await op.read(self._all_projects)]
        return ListAgentProjectsResponse(projects=rows, total_count=len(rows))

    @operation("project.show", Effect.READ)
    async def show(self, op: Operation, name: str) -> DefinitionResponse:
        """Return all that is defined of a project."""
        return shown_project(await op.read(lambda tx: self._find(tx, name)))

    @operation("project.add", Effect.WRITE, scope=Scope.ADMIN)
    async def add(self, op: Operation, name: str, fields: Mapping[str, object]) -> DefinedResponse:
        """Define a project."""
        project = defined(Project, fields, name=name, with_id=self._id())
        return await op.commit(lambda tx: self._put(tx, self._projects, project))

    @operation("project.remove", Effect.DESTROY, scope=Scope.ADMIN)
    async def remove(self, op: Operation, name: str) -> DefinedResponse:
        """Forget a project; what is in its repository or folder is left alone."""
        return await op.commit(
            lambda tx: self._forget(tx, self._projects, self._find(tx, name)),
        )

    @operation("role.list", Effect.READ)
    async def list_roles(self, op: Operation, project: str) -> ListAgentRolesResponse:
        """Return the roles that agents of a project can have."""

        def look(tx: Transaction) -> tuple[Project, Sequence[Role]]:
            return self._find(tx, project), self._all_roles(tx)

        found, roles = await op.read(look)
        rows = [role_row(role, found) for role in roles_of(found, roles)]
        return ListAgentRolesResponse(project=found.name, roles=rows, total_count=len(rows))

    @operation("role.list_all", Effect.READ)
    async def list_all_roles(self, op: Operation) -> AllRolesResponse:
        """Return every role, by name."""
        rows = [role_row(role) for role in await op.read(self._all_roles)]
        return AllRolesResponse(roles=rows, total_count=len(rows))

    @operation("role.show", Effect.READ)
    async def show_role(self, op: Operation, name: str) -> DefinitionResponse:
        """Return all that is defined of a role, except for the values of its variables."""
        return shown_role(await op.read(lambda tx: self._find_role(tx, name)))

    # A role names a program that the daemon will run: more than writing is needed for that.
    @operation("role.add", Effect.WRITE, scope=Scope.ADMIN)
    async def add_role(
        self, op: Operation, name: str, fields: Mapping[str, object]
    ) -> DefinedResponse:
        """Define a role."""
        role = defined(Role, fields, name=name, with_id=self._id())
        return await op.commit(lambda tx: self._put(tx, self._roles, role))

    @operation("role.remove", Effect.DESTROY, scope=Scope.ADMIN)
    async def remove_role(self, op: Operation, name: str) -> DefinedResponse:
        """Forget a role."""
        return await op.commit(lambda tx: self._forget(tx, self._roles, self._find_role(tx, name)))

    def _compare(self, tx: Transaction) -> tuple[Changes[Project], Changes[Role]]:
        seeds, projects, roles = self._seeds, self._projects.list(tx), self._roles.list(tx)
        return (
            seed(Project, seeds.projects, projects, node_id=seeds.node_id, new_id=self._id),
            seed(Role, seeds.roles, roles, node_id=seeds.node_id, new_id=self._id),
        )

    def _seed(self, tx: Transaction) -> None:
        # Compared once more: another process may have done it since.
        projects, roles = self._compare(tx)
        self._apply(tx, self._projects, projects)
        self._apply(tx, self._roles, roles)

    def _all_projects(self, tx: Transaction) -> Sequence[Project]:
        return self._projects.list(tx) or [self._seeds.demo]

    def _all_roles(self, tx: Transaction) -> Sequence[Role]:
        return self._roles.list(tx) or [BUILT_IN_ROLE]

    def _find(self, tx: Transaction, name: str) -> Project:
        projects = self._all_projects(tx)
        if found := _named(name, projects):
            return found
        raise ProjectNotFound(name, [project.name for project in projects])

    def _find_role(self, tx: Transaction, name: str) -> Role:
        roles = self._all_roles(tx)
        if found := _named(name, roles):
            return found
        raise RoleNotFound(name, None, [role.name for role in roles])

    def _put(self, tx: Transaction, rows: DefinitionRepository[D], new: D) -> DefinedResponse:
        if old := _named(new.name, rows.list(tx)):
            raise AlreadyDefined(_noun(old), old.name)
        rows.put(tx, new, self.operations.clock.now())
        return _answer(new, f"Added the {_noun(new)} {new.name!r}")

    def _forget(self, tx: Transaction, rows: DefinitionRepository[D], old: D) -> DefinedResponse:
        # What another node's file defines may be removed: that node may be gone for good.
        if old.seeded_by in (BUILT_IN, self._seeds.node_id):
            is_built_in = old.seeded_by == BUILT_IN
            raise DefinedElsewhere(_noun(old), old.name, is_built_in=is_built_in)
        using = [
            agent.name
            for agent in self._agents.list(tx)
            if old.id in (agent.project_id, agent.role_id) and agent.status not in RELEASED
        ]
        if using:
            raise DefinitionInUse(_noun(old), old.name, using)
        rows.remove(tx, old.id)
        return _answer(old, f"Removed the {_noun(old)} {old.name!r}")

    def _apply(self, tx: Transaction, rows: DefinitionRepository[D], changes: Changes[D]) -> None:
        for old in changes.removed:
            rows.remove(tx, old.id)
        for new in changes.put:
            rows.put(tx, new, self.operations.clock.now())

    def _id(self) -> str:
        return new_id(self.operations.clock.now())


def _named(name: str, among: Sequence[D]) -> D | None:
    return next((each for each in among if same_name(each.name) == same_name(name)), None)


def _noun(each: Defined) -> str:
    return type(each).__name__.lower()


def _answer(each: Defined, message: str) -> DefinedResponse:
    return DefinedResponse(id=each.id, name=each.name, message=message)
