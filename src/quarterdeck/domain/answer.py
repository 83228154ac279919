"""What an operation promises to every surface: one frozen model, named by the contract's fields.

Services return answers and surfaces pass them on, so the reply, the trace and `--json`
show the same thing.
"""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Answer(BaseModel):
    """Base of all answers: snake_case in Python, the contract's camelCase outside.

    A field that is `None` is left out of the reply, unless its contract shows it as null; JSON
    `null` inside user data stays.
    """

    keeps_nulls: ClassVar[bool] = False

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class SnakeAnswer(Answer):
    """Base of the answers whose contract writes its fields in snake_case."""

    model_config = ConfigDict(alias_generator=None)
