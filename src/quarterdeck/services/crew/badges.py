"""What lets an agent into this Quarterdeck: its own token, good while it runs."""

from quarterdeck.daemon.key import new_secret
from quarterdeck.domain.access import Scope
from quarterdeck.domain.ids import new_id
from quarterdeck.domain.tokens import Token
from quarterdeck.ports.clock import Clock
from quarterdeck.ports.repositories import TokenRepository
from quarterdeck.ports.runtime import AgentSpec, Endpoint
from quarterdeck.ports.store import Store, Transaction
from quarterdeck.services.tokens import hashed

PREFIX = "agent:"


class Badges:
    """Gives agents whose role says so our own endpoint, with a token of their name."""

    def __init__(self, store: Store, tokens: TokenRepository, clock: Clock) -> None:
        """Without a `url` nobody can come in, and nobody is invited."""
        self._store = store
        self._tokens = tokens
        self._clock = clock
        self.url: str | None = None

    async def issue(self, spec: AgentSpec) -> Endpoint | None:
        """Return the endpoint for an agent, with a new token; its last one is void."""
        scopes = frozenset(Scope(scope) for scope in spec.role.quarterdeck)
        if not scopes or self.url is None:
            return None
        secret, now = new_secret(), self._clock.now()
        token = Token(
            id=new_id(now),
            name=badge_of(spec.name),
            hash=hashed(secret),
            scopes=scopes,
            created_at=now,
        )

        def decide(tx: Transaction) -> None:
            self._tokens.remove_named(tx, token.name)
            self._tokens.add(tx, token)

        await self._store.write(decide)
        return Endpoint(f"{self.url}/mcp", secret)

    async def revoke(self, agent_name: str) -> None:
        """Let an agent in no more; safe to repeat."""
        await self._store.write(lambda tx: self._tokens.remove_named(tx, badge_of(agent_name)))


def badge_of(agent_name: str) -> str:
    """Return the name of an agent's token, which no token of a person can have."""
    return f"{PREFIX}{agent_name.casefold()}"


def is_badge(token_name: str) -> bool:
    """Say whether a token is an agent's own."""
    return token_name.startswith(PREFIX)
