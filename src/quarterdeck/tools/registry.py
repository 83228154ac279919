"""A tool as data: its name, toolset and effect, the shape of its arguments and of its answer."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import SchemaValidator

from quarterdeck.domain.access import Scope, scope_of
from quarterdeck.domain.answer import Answer
from quarterdeck.domain.effect import Effect
from quarterdeck.errors import InvalidInput, closest_name
from quarterdeck.services.recorder import Rendered
from quarterdeck.tools.schemas import Schema, arguments_schema, without_noise

ToolFunction = Callable[..., Awaitable[Answer]]

# No coercion: "5" is not 5 and true is not 1.
_STRICT = ConfigDict(strict=True, extra="forbid")
# Enough to mend a request; a caller that sends a thousand wrong names learns no more from all.
_MOST_LISTED = 20
_FIELD_LENGTH = 200

# Where pydantic speaks of Python, clients are told in the words of JSON.
_WORDS = {
    "missing": "is required",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "list_type": "must be an array",
}


@dataclass(frozen=True)
class ToolSpec:
    """One tool; what a model reads about it is in `texts/`."""

    name: str
    toolset: str
    effect: Effect
    scope: Scope
    is_idempotent: bool
    function: ToolFunction
    arguments: type[BaseModel]
    answer: type[Answer]
    asks: bool = False  # the person at the client, if it can

    @cached_property
    def input_schema(self) -> Schema:
        """Return the JSON Schema of the arguments, with every limit and without any text."""
        return arguments_schema(self.arguments)

    @cached_property
    def output_schema(self) -> Schema:
        """Return the JSON Schema of the answer."""
        return without_noise(self.answer.model_json_schema(mode="serialization"))

    @cached_property
    def optional(self) -> frozenset[str]:
        """Return the arguments that may be left out."""
        fields = self.arguments.model_fields.items()
        return frozenset(name for name, field in fields if not field.is_required())

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments the function takes, or say everything that is wrong with them.

        A null where an argument may be left out counts as left out: clients that must send
        every argument send it so.
        """
        optional = self.optional
        given = {k: v for k, v in arguments.items() if v is not None or k not in optional}
        try:
            return self._validator.validate_python(given).__dict__
        except ValidationError as error:
            raise self._refusal(error) from error

    def render(self, answer: object) -> Rendered:
        """Return the reply's JSON, and where it does not keep the output schema."""
        assert isinstance(answer, Answer), "tools answer with models"
        # The check below says what a serializer's warning would say, and who is to blame.
        text = answer.__pydantic_serializer__.to_json(
            answer, exclude_none=not answer.keeps_nulls, warnings=False
        )
        try:
            self._answer_validator.validate_json(text)
        except ValidationError as error:
            problems = [_problem(item) for item in _errors(error)[:_MOST_LISTED]]
            return Rendered(text.decode(), tuple(f"{where} {what}" for where, what, _ in problems))
        return Rendered(text.decode())

    @cached_property
    def _validator(self) -> SchemaValidator:
        return cast("SchemaValidator", self.arguments.__pydantic_validator__)

    @cached_property
    def _answer_validator(self) -> SchemaValidator:
        return cast("SchemaValidator", self.answer.__pydantic_validator__)

    def _refusal(self, error: ValidationError) -> InvalidInput:
        found = _errors(error)
        problems = [self._worded(*_problem(item)) for item in found[:_MOST_LISTED]]
        known = ", ".join(self.arguments.model_fields) or "none"
        refusal = InvalidInput.fields(problems, hint=f"{self.name} takes: {known}")
        if len(found) > _MOST_LISTED:
            refusal.details["unlisted"] = len(found) - _MOST_LISTED
        return refusal

    def _worded(self, field: str, problem: str, kind: str) -> tuple[str, str]:
        if kind != "extra_forbidden":
            return field, problem
        closest = closest_name(field, list(self.arguments.model_fields))
        return field, "is not an argument" + (f"; did you mean {closest!r}?" if closest else "")


def _errors(error: ValidationError) -> Sequence[Mapping[str, Any]]:
    # Inputs are left out: they may be large, and they may be secret.
    return error.errors(include_url=False, include_input=False, include_context=False)


def _problem(item: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the field, what is wrong with it, and pydantic's name for that."""
    where = ".".join(str(part) for part in item["loc"])[:_FIELD_LENGTH]
    kind, text = str(item["type"]), str(item["msg"])
    for subject in ("Input ", "String ", "Value error, "):
        text = text.removeprefix(subject)
    return where, _WORDS.get(kind, text[:1].lower() + text[1:]), kind


class Toolset:
    """A named group of tools that a user can switch on and off as one."""

    def __init__(self, name: str) -> None:
        """Start empty; `tool` adds."""
        self.name = name
        self.tools: list[ToolSpec] = []

    def tool(
        self,
        effect: Effect,
        *,
        scope: Scope | None = None,
        is_idempotent: bool = True,
        asks: bool = False,
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Register a function; its name, signature and return type are the tool's.

        A caller needs the scope of the effect to see it, or `scope` instead; the operation
        behind it has to ask for the same. One that `asks` may turn to the person at the client.
        """
        needed = scope or scope_of(effect)

        def register(function: ToolFunction) -> ToolFunction:
            spec = _spec(function, self.name, effect, needed, is_idempotent=is_idempotent)
            self.tools.append(replace(spec, asks=asks))
            return function

        return register


def _spec(
    function: ToolFunction, toolset: str, effect: Effect, scope: Scope, *, is_idempotent: bool
) -> ToolSpec:
    hints = get_type_hints(function, include_extras=True)
    answer = hints.pop("return")
    parameters = inspect.signature(function).parameters
    fields: dict[str, Any] = {
        name: hint
        if parameters[name].default is inspect.Parameter.empty
        else (hint, parameters[name].default)
        for name, hint in hints.items()
    }
    name = cast("Any", function).__name__
    return ToolSpec(
        name=name,
        toolset=toolset,
        effect=effect,
        scope=scope,
        is_idempotent=is_idempotent,
        function=function,
        arguments=create_model(f"{name}_arguments", __config__=_STRICT, **fields),
        answer=answer,
    )
