"""What the words cost: an estimate of the tokens a model reads for each entry of the lists.

A tokenizer would need its vocabulary, tens of megabytes or a download, and each family of models
has its own. Four characters of compact JSON for a token come close for English: all tools of this
package together come out 3 to 10 percent above what the encodings o200k and cl100k count, and a
single small one up to a fifth above. Other languages need more tokens than this says.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from quarterdeck.overrides.fields import Kind, shown_items
from quarterdeck.overrides.surface import ShownTool, Surface

CHARACTERS_PER_TOKEN = 4
# What most clients hand to the model; they keep the rest to themselves.
READ_BY_MODEL = frozenset({"name", "description", "inputSchema", "uri", "uriTemplate", "arguments"})


class Cost(NamedTuple):
    """Tokens of one entry: those of its whole, and those that most clients hand to a model."""

    kind: Kind
    name: str
    toolset: str | None
    listed: int
    read: int


def costs(surface: Surface) -> Iterator[Cost]:
    """Return what each entry costs, in the order of the lists."""
    for kind, name, item in shown_items(surface):
        toolset = item.toolset if isinstance(item, ShownTool) else None
        read = {key: value for key, value in item.wire.items() if key in READ_BY_MODEL}
        yield Cost(kind, name, toolset, tokens(item.wire), tokens(read))


def tokens(entry: Mapping[str, Any]) -> int:
    """Return about how many tokens the JSON of an entry is."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False, default=str)
    return -(-len(text) // CHARACTERS_PER_TOKEN)
