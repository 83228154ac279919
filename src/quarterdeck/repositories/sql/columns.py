"""What the tables are made of, the same on both databases."""

from sqlalchemy import BigInteger, Integer, MetaData, Text
from sqlalchemy.types import TypeEngine

metadata = MetaData()


def big() -> TypeEngine[int]:
    # SQLite's row id must be declared INTEGER; it is 64 bits wide all the same.
    return BigInteger().with_variant(Integer(), "sqlite")


def exact() -> TypeEngine[str]:
    # Byte order on both databases: `prefix` is case-sensitive and ranges follow code points.
    return Text().with_variant(Text(collation="C"), "postgresql")
