import asyncio

from quarterdeck.clients.acp.lines import TooLong, lines_of


def source_of(*pieces: bytes) -> asyncio.StreamReader:
    source = asyncio.StreamReader()
    for piece in pieces:
        source.feed_data(piece)
    source.feed_eof()
    return source


async def lines(*pieces: bytes, longest: int = 100) -> list[bytes | TooLong]:
    return [line async for line in lines_of(source_of(*pieces), longest=longest)]


async def test_lines_are_put_together_from_pieces() -> None:
    assert await lines(b"on", b"e\ntwo\n\nth", b"ree") == [b"one", b"two", b"", b"three"]


async def test_a_stream_that_ends_with_a_line_has_no_other() -> None:
    assert await lines(b"one\n") == [b"one"]
    assert await lines() == []


async def test_a_line_as_long_as_the_limit_is_whole_and_a_longer_one_left_out() -> None:
    longest = 150_000
    stream = b"x" * longest + b"\n" + b"y" * (longest + 1) + b"\nshort\n"
    assert await lines(stream, longest=longest) == [
        b"x" * longest,
        TooLong(longest + 1),
        b"short",
    ]


async def test_a_line_that_is_too_long_and_never_ends_is_told_of() -> None:
    assert await lines(b"x" * 101) == [TooLong(101)]
