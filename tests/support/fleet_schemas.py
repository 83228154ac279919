"""The answers of the fleet's tools as their contract has them, written by hand from its text.

Not derived from the product's models, which are what they are compared with. A field that the
contract does not know may be there, and then has the type it is given here.
"""

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
# UTC, and nothing but the letter for it.
TIME: Schema = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$",
}
UUID: Schema = {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}
NAME: Schema = {"type": "string", "pattern": "^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$", "maxLength": 32}
STATUS: Schema = {
    "enum": [
        "pending",
        "starting",
        "idle",
        "busy",
        "stopping",
        "stopped",
        "failed",
        "canceling",
        "canceled",
        "deleting",
        "deleted",
    ]
}
TASK_STATE: Schema = {"enum": ["queued", "running", "done", "failed", "canceled", "interrupted"]}
OPTION_KIND: Schema = {"enum": ["allow_once", "allow_always", "reject_once", "reject_always"]}


def document(required: Schema, optional: Schema | None = None) -> Schema:
    """An object that has all of `required`, and perhaps some of `optional`."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
    }


def many(items: Schema) -> Schema:
    return {"type": "array", "items": items}


USAGE = document(
    {
        "input_tokens": COUNT,
        "output_tokens": COUNT,
        "total_tokens": COUNT,
        "cost": {"type": "number", "minimum": 0},
        "currency": TEXT_OR_NULL,
    }
)
OPEN_QUESTION = document({"question_id": UUID, "title": TEXT, "deadline": TIME})

FIELD = document(
    {
        "value": {},
        "error": TEXT_OR_NULL,
        "schema": document({"description": TEXT, "include_in_list": FLAG}),
    }
)
# A field that failed has no value, and one that has a value did not fail.
FIELD["anyOf"] = [
    {"properties": {"value": {"type": "null"}}},
    {"properties": {"error": {"type": "null"}}},
]
VALUES_ONLY: Schema = {
    "type": "object",
    "additionalProperties": {"not": {"type": "object", "required": ["value", "schema"]}},
}
FIELDS: Schema = {"type": "object", "additionalProperties": FIELD}


def agent(metadata: Schema) -> Schema:
    return document(
        {
            "name": NAME,
            "status": STATUS,
            "role": TEXT,
            "project": TEXT,
            "last_task": TEXT_OR_NULL,
            "created_at": TIME,
            "updated_at": TIME,
            "workspace_id": UUID,
            "metadata_count": COUNT,
            "metadata": metadata,
        },
        {
            "metadata_skipped": {"const": True},
            "last_report": TEXT,
            "waiting_for": OPEN_QUESTION,
            "unavailable": TEXT,
            "reason": TEXT,
            "usage": USAGE,
            "branch": TEXT,
            "workspace": TEXT,
            "runtime": TEXT,
        },
    )


AGENT_ROW = agent(VALUES_ONLY)
AGENT_DETAIL = agent(FIELDS)

PROJECT = document({"id": UUID, "name": TEXT, "description": TEXT})
ROLE = document({"id": UUID, "name": TEXT, "project_id": UUID})
TASK = document(
    {
        "message": TEXT,
        "uri": TEXT_OR_NULL,
        "needs_user_attention": FLAG,
        "created_at": TIME,
    },
    {
        "state": TASK_STATE,
        "started_at": TIME,
        "ended_at": TIME,
        "result": TEXT,
        "verdict": TEXT,
        "branch": TEXT,
        "commits": many(TEXT),
        "files": many(TEXT),
        "usage": USAGE,
    },
)
LOG_ENTRY = document(
    {"timestamp": TIME, "message": TEXT, "level": {"enum": ["DEBUG", "INFO", "WARN", "ERROR"]}},
    {"role": TEXT, "kind": TEXT},
)
QUESTION = document(
    {
        "question_id": UUID,
        "agent_name": NAME,
        "title": TEXT,
        "tool_kind": TEXT,
        "paths": many(TEXT),
        "options": many(document({"option_id": TEXT, "name": TEXT, "kind": OPTION_KIND})),
        "default_option_id": TEXT_OR_NULL,
        "asked_at": TIME,
        "deadline": TIME,
        "state": {"enum": ["open", "answered", "expired", "withdrawn"]},
    },
    {"answer_option_id": TEXT, "answered_by": TEXT, "answered_at": TIME},
)
# A binary file has no counts.
LINES: Schema = {"type": ["integer", "null"], "minimum": 0}
CHANGED_FILE = document({"path": TEXT, "added": LINES, "deleted": LINES})
COMMIT = document({"id": TEXT, "subject": TEXT})


def paged(what: str, items: Schema) -> Schema:
    return document(
        {
            "agent_name": NAME,
            what: many(items),
            "total_count": COUNT,
            "page": {"type": "integer", "minimum": 1},
            "page_size": {"type": "integer", "minimum": 1, "maximum": 100},
            "has_next_page": FLAG,
            "has_previous_page": FLAG,
        }
    )


ANSWERS: dict[str, Schema] = {
    "list_agents": document({"agents": many(AGENT_ROW), "total_count": COUNT}),
    "show_agent": document({"agent": AGENT_DETAIL}),
    "list_agent_projects": document({"projects": many(PROJECT), "total_count": COUNT}),
    "list_agent_roles": document({"project": TEXT, "roles": many(ROLE), "total_count": COUNT}),
    "create_agent": document({"agent": AGENT_DETAIL, "message": TEXT}),
    "delete_agent": document(
        {"agent_name": NAME, "workspace_id": UUID, "message": TEXT},
        {"status": {"enum": ["deleting", "deleted"]}, "saved_branch": TEXT, "saved_folder": TEXT},
    ),
    "restart_agent": document(
        {"agent_name": NAME, "workspace_id": UUID, "status": STATUS, "message": TEXT}
    ),
    "start_agent_task": document(
        {
            "agent_name": NAME,
            "task": document({"message": TEXT, "created_at": TIME}, {"state": TASK_STATE}),
            "message": TEXT,
        }
    ),
    "cancel_agent_task": document(
        {"agent_name": NAME, "message": TEXT, "interrupt_sent": FLAG, "stopped": FLAG}
    ),
    "show_agent_task_history": paged("tasks", TASK),
    "show_agent_log": paged("logs", LOG_ENTRY),
    "wait_for_agent": document(
        {
            "agents": many(
                document(
                    {"name": NAME, "status": STATUS, "last_task": TEXT_OR_NULL},
                    {"waiting_for": OPEN_QUESTION, "task_state": TASK_STATE, "reason": TEXT},
                )
            ),
            "timed_out": FLAG,
            "message": TEXT,
        }
    ),
    "show_agent_diff": document(
        {
            "agent_name": NAME,
            "branch": TEXT_OR_NULL,
            "commits": many(COMMIT),
            "files": many(CHANGED_FILE),
            "patch": TEXT,
            "page": {"type": "integer", "minimum": 1},
            "total_pages": {"type": "integer", "minimum": 1},
            "has_next_page": FLAG,
            "truncated": FLAG,
        }
    ),
    "question_list": document({"questions": many(QUESTION), "total_count": COUNT}),
    "question_answer": document({"question": QUESTION, "message": TEXT}),
}
ERROR = document(
    {
        "success": {"const": False},
        "error": document(
            {
                "code": {
                    "enum": [
                        "INVALID_INPUT",
                        "NOT_FOUND",
                        "CONFLICT",
                        "INTERNAL_ERROR",
                        "SERVICE_UNAVAILABLE",
                        "DENIED",
                        "TIMEOUT",
                    ]
                },
                # One sentence: no line breaks, no full stop at its end or inside.
                "message": {"type": "string", "pattern": r"^(?!.*\. [A-Z])[^\n]+[^\n.]$"},
                "details": {"type": "object", "properties": {"hint": TEXT}},
            }
        ),
    }
)


def complaints(schema: Schema, body: Any) -> list[str]:  # noqa: ANN401 - whatever was answered
    """Return what is wrong with an answer, each with its place."""
    checker: Any = Draft202012Validator(schema)  # its stubs are partly untyped
    found = checker.iter_errors(body)
    return [f"{error.json_path}: {error.message}" for error in found]
