"""`python canned_agent.py NOTES ANSWERS`: an agent that answers from a list and notes what it got.

NOTES is a file for all messages, one a line; ANSWERS a JSON object of results by method, where
`{"error": ...}` is an error.
"""

import json
import sys
from pathlib import Path
from typing import Any

DEFAULTS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": {}},
    "session/new": {"sessionId": "s1"},
    "session/prompt": {"stopReason": "end_turn"},
}


def main() -> None:
    notes, answers = Path(sys.argv[1]), {**DEFAULTS, **json.loads(sys.argv[2])}
    for line in sys.stdin:
        message = json.loads(line)
        with notes.open("a", encoding="utf-8") as file:
            file.write(line)
        if "id" in message and "method" in message:
            answer = answers.get(message["method"], {})
            body = answer if "error" in answer else {"result": answer}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
