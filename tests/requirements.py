"""The promises tests can name, by id.

`@requirement("INV-MCP-MEM-004")` on a test says that it keeps this promise; `test_requirements.py`
checks that every promise has a test and that every named promise exists.
"""

import pytest

REQUIREMENTS = {
    "INV-MCP-001": (
        "Arguments are checked before a tool runs; a bad one is INVALID_INPUT, names the field "
        "and changes nothing. Results are checked too, as INV-MCP-VAL-001 says."
    ),
    "INV-MCP-002": (
        "A tool changes nothing that its effect and annotations do not declare; "
        "a read-only tool changes no state."
    ),
    "INV-MCP-003": "A tool fails only with the error codes that are declared.",
    "INV-MCP-004": (
        "Every tool declares whether it may be repeated, and repeating one that may "
        "leaves the same state."
    ),
    "INV-MCP-005": "A tool never changes the input it was given.",
    "INV-MCP-007": (
        "Every call leaves exactly one root trace: good, failing, invalid, unknown, cancelled "
        "and concurrent ones."
    ),
    "INV-MCP-008": (
        "A trace has the call's input, output, duration and success; "
        "input and output are redacted and capped."
    ),
    "INV-MCP-MEM-001": (
        "memory_list returns keys by their first store, oldest first; an overwrite keeps its place."
    ),
    "INV-MCP-MEM-002": "The namespace filter of memory_list is an exact match.",
    "INV-MCP-MEM-003": "The prefix filter of memory_list regards case.",
    "INV-MCP-MEM-004": "Deleting an absent key succeeds with deleted=false; repeat it freely.",
    "INV-MCP-MEM-005": "Deleting leaves a trace event with the key, whether or not it was there.",
    "INV-MCP-VAL-001": (
        "A result that does not fit its schema is logged and marked in the trace, "
        "and the reply still goes out."
    ),
    "INV-MCP-VAL-002": "Every tool's output schema comes from a response model of the package.",
}


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test with the promises it keeps."""
    return pytest.mark.requirement(*ids)
