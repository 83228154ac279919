import pytest

from quarterdeck.domain.access import (
    ALL_SCOPES,
    ONLY_READ,
    OWNER,
    STRANGER,
    Caller,
    Scope,
    implied,
    scope_of,
)
from quarterdeck.domain.effect import Effect
from quarterdeck.domain.guard import require
from quarterdeck.errors import Denied

READ, WRITE, APPROVE, ADMIN = Scope


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ({READ}, {READ}),
        ({WRITE}, {READ, WRITE}),
        ({APPROVE}, {READ, APPROVE}),
        ({ADMIN}, {READ, WRITE, APPROVE, ADMIN}),
        ({WRITE, APPROVE}, {READ, WRITE, APPROVE}),
        (set[Scope](), set[Scope]()),
    ],
)
def test_a_scope_includes_what_it_is_no_use_without(given: set[Scope], whole: set[Scope]) -> None:
    assert implied(given) == whole


def test_an_effect_needs_read_or_write() -> None:
    assert [scope_of(effect) for effect in Effect] == [READ, WRITE, WRITE]


def test_a_caller_can_be_narrowed_and_never_widened() -> None:
    writer = Caller("1", frozenset({READ, WRITE}), "ci")
    assert writer.narrowed(ONLY_READ) == Caller("1", ONLY_READ, "ci")
    assert writer.narrowed(ALL_SCOPES) == writer


def test_the_owner_may_do_everything_and_a_stranger_nothing() -> None:
    for scope in Scope:
        require(scope, OWNER.scopes, "anything")
        with pytest.raises(Denied) as refusal:
            require(scope, STRANGER.scopes, "anything")
        assert refusal.value.details["scope"] == scope
        assert f"--scope {scope}" in (refusal.value.hint or "")
