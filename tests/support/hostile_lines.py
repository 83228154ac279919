"""Lines that no client should send."""


def _store(value: bytes, key: bytes = b'"k"') -> bytes:
    return (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_store",'
        b'"arguments":{"key":' + key + b',"value":' + value + b"}}}"
    )


def _deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


HOSTILE = {
    "ten megabytes of key": _store(b"{}", key=b'"' + b"x" * 10_000_000 + b'"'),
    "ten megabytes of value": _store(b'{"t":"' + b"x" * 10_000_000 + b'"}'),
    "an object of 200 levels": _store(_deep(200)),
    "an object of 5000 levels": _store(_deep(5000)),
    "a value deeper than allowed": _store(_deep(150)),
    "bytes that are not UTF-8": _store(b"{}", key=b'"a\xff\xfeb"'),
    "half a surrogate pair in the key": _store(b"{}", key=b'"a\\ud800b"'),
    "half a surrogate pair in the value": _store(b'{"x":"\\udc00"}'),
    "a NUL in the key": _store(b"{}", key=b'"a\\u0000b"'),
    "a number that is none": _store(b'{"n":NaN}'),
    "a number without end": _store(b'{"n":1e999}'),
    "a string for an object": _store(b'"text"'),
}
NO_REQUESTS = (
    b"hello",
    b"",
    b"[1, 2",
    b"\xff\xfe",
    b"null",
    b'"id"',
    b"{",
    b"{}",
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call"',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":[1],"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":7,"method":5}',
    b'{"jsonrpc":"2.0","id":7,"result":{}}',
    b'{"jsonrpc":"2.0","method":"notifications/nonsense"}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]',
)
