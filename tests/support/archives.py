"""Backups and restores through the service, and archives that nobody should restore."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from quarterdeck.app import Quarterdeck
from quarterdeck.domain.archive import BackupResponse, RestorePlan, RestoreResponse
from quarterdeck.services.calls import Call

Manifest = dict[str, Any]


def silent(_what: str, _done: int, _total: int) -> None:
    pass


def agree(_plan: RestorePlan) -> bool:
    return True


async def store(deck: Quarterdeck, key: str, text: str = "") -> None:
    call = Call("cli", "cli.memory.store", {})
    await deck.calls.serve(call, lambda: deck.memory.store(key, {"text": text}))


async def found(deck: Quarterdeck, query: str) -> list[str]:
    call = Call("cli", "cli.memory.search", {}, recorded=False)
    answer = await deck.calls.serve(call, lambda: deck.memory.search(query))
    return [hit.key for hit in answer.results]


async def keys(deck: Quarterdeck) -> list[str]:
    call = Call("cli", "cli.memory.list", {}, recorded=False)
    answer = await deck.calls.serve(call, lambda: deck.memory.list(limit=1000))
    return [row.key for row in answer.keys]


async def back_up(
    deck: Quarterdeck, target: Path | None = None, *, with_secrets: bool = False
) -> BackupResponse:
    return await deck.calls.serve(
        Call("cli", "cli.backup", {}),
        lambda: deck.archives.backup(target, silent, with_secrets=with_secrets),
    )


async def restore(
    deck: Quarterdeck,
    file: str | Path,
    *,
    confirm: Callable[[RestorePlan], bool] = agree,
    database_only: bool = False,
) -> RestoreResponse:
    return await deck.calls.serve(
        Call("cli", "cli.restore", {}),
        lambda: deck.archives.restore(
            Path(file),
            silent,
            confirm=confirm,
            paused=nullcontext,
            database_only=database_only,
        ),
    )


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path: Path, content: dict[str, bytes | zipfile.ZipInfo]) -> None:
    """Write a zip anew; a member given as its description is a link."""
    path.unlink(missing_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            if isinstance(data, zipfile.ZipInfo):
                archive.writestr(data, b"/etc/passwd")
            else:
                archive.writestr(name, data)


def change_manifest(path: Path, change: Callable[[Manifest], None]) -> None:
    content = members(path)
    manifest = json.loads(content["manifest.json"])
    change(manifest)
    rewrite(path, {**content, "manifest.json": json.dumps(manifest).encode()})


def add_file(path: Path, name: str, data: bytes, *, inside: str | None = None) -> None:
    """Add a file as an attacker would: with a manifest that fits."""
    described = {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change_manifest(path, lambda manifest: manifest["files"].append(described))
    rewrite(path, {**members(path), inside or f"home/{name}": data})


def exchange_database(path: Path, data: bytes) -> None:
    """Put another database in, with a manifest that fits."""
    digest = hashlib.sha256(data).hexdigest()
    change_manifest(
        path, lambda manifest: manifest["database"].update(size=len(data), sha256=digest)
    )
    rewrite(path, {**members(path), "database.sqlite": data})
