"""What is counted, and how it is worded for Prometheus."""

import asyncio
import sys

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families as parsed

from quarterdeck import __version__
from quarterdeck.app import open_quarterdeck
from quarterdeck.errors import Conflict, Denied, StorageUnavailable, TraceNotFound
from quarterdeck.metrics import BOUNDS_SECONDS, Metrics, Watched
from quarterdeck.services.calls import Call, Calls
from quarterdeck.settings import load_settings

NOTHING = Watched(running=0, refused=0, stored_bytes=None)


def families(metrics: Metrics, watched: Watched = NOTHING) -> dict[str, Metric]:
    return {family.name: family for family in parsed(metrics.text(watched).decode())}


def values(family: Metric) -> dict[tuple[str, ...], float]:
    order = ("surface", "name", "outcome")
    return {
        (sample.name, *(sample.labels[label] for label in order if label in sample.labels)): (
            sample.value
        )
        for sample in family.samples
    }


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "success"),
        (Conflict("busy"), "conflict"),
        (Denied("no"), "denied"),
        (TraceNotFound("t1"), "not_found"),
        (StorageUnavailable("full"), "service_unavailable"),
        (asyncio.CancelledError(), "cancelled"),
        (RuntimeError("a bug"), "internal_error"),
    ],
)
def test_a_call_is_counted_by_surface_name_and_outcome(
    error: BaseException | None, outcome: str
) -> None:
    metrics = Metrics()
    metrics.call_ended("mcp", "mcp.memory_store", error, 10)
    counted = values(families(metrics)["quarterdeck_calls"])
    assert counted == {("quarterdeck_calls_total", "mcp", "mcp.memory_store", outcome): 1}


def test_durations_fall_into_buckets_that_add_up() -> None:
    metrics = Metrics()
    for milliseconds in (1, 2, 300, 100_000):
        metrics.call_ended("mcp", "mcp.x", None, milliseconds * 1000)
    found = families(metrics)["quarterdeck_call_duration_seconds"]
    buckets = {
        sample.labels["le"]: sample.value
        for sample in found.samples
        if sample.name.endswith("_bucket")
    }
    assert len(buckets) == len(BOUNDS_SECONDS) + 1
    assert (buckets["0.001"], buckets["0.0025"], buckets["0.25"]) == (1, 2, 2)
    assert (buckets["0.5"], buckets["50.0"], buckets["+Inf"]) == (3, 3, 4)
    rest = {sample.name: sample.value for sample in found.samples}
    assert rest["quarterdeck_call_duration_seconds_count"] == 4
    assert rest["quarterdeck_call_duration_seconds_sum"] == pytest.approx(100.303)


def test_names_that_callers_made_up_are_one_series() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.call_ended("mcp", None, Conflict("x"), 10)
    counted = values(families(metrics)["quarterdeck_calls"])
    assert counted == {("quarterdeck_calls_total", "mcp", "other", "conflict"): 3}


def test_what_others_count_is_shown_as_it_is_now() -> None:
    found = families(Metrics(), Watched(running=2, refused=7, stored_bytes=4096))
    assert values(found["quarterdeck_calls_running"]) == {("quarterdeck_calls_running",): 2}
    assert list(values(found["quarterdeck_requests_refused"]).values()) == [7]
    assert list(values(found["quarterdeck_store_bytes"]).values()) == [4096]
    assert [sample.labels for sample in found["quarterdeck_build_info"].samples] == [
        {"version": __version__}
    ]


def test_a_store_that_is_away_has_no_size() -> None:
    assert "quarterdeck_store_bytes" not in families(Metrics())


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux: it reads /proc")
def test_the_process_itself_is_shown() -> None:
    shown = families(Metrics())
    assert {"process_cpu_seconds", "process_resident_memory_bytes", "process_open_fds"} <= set(
        shown
    )


async def test_running_calls_are_counted_while_they_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    metrics = Metrics()
    settings = load_settings(flags={"home": tmp_path_factory.mktemp("home")}, environ={})
    async with open_quarterdeck(settings, meter=metrics) as deck:
        await serve_one(deck.calls, metrics)
    assert list(values(families(metrics)["quarterdeck_traces_written"]).values()) == [1]


async def serve_one(calls: Calls, metrics: Metrics) -> None:
    entered, released = asyncio.Event(), asyncio.Event()

    async def body() -> str:
        entered.set()
        await released.wait()
        return "done"

    served = asyncio.create_task(calls.serve(Call("web", "web.wait", None), body))
    await entered.wait()
    assert calls.running == 1
    assert values(families(metrics)["quarterdeck_calls"]) == {}
    released.set()
    await served
    assert calls.running == 0
    assert list(values(families(metrics)["quarterdeck_calls"]).values()) == [1]
