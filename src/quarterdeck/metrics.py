"""What `/metrics` shows: counted in plain numbers, put into Prometheus' words when asked.

prometheus-client's own counters take a lock and a look-up for each label, at every call; its
families, which only word what was counted, cost nothing until somebody asks.
"""

import asyncio
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from quarterdeck import __version__
from quarterdeck.errors import InternalError, QuarterdeckError

# No call waits longer than 50 s; what takes longer has been cancelled or is stuck.
BOUNDS_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50)
# Callers can make up as many names as they like; all of these are one.
MADE_UP = "other"
MICROSECONDS = 1_000_000


@dataclass(slots=True)
class Tally:
    """The calls of one name: how they ended, how long they took."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    durations: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_SECONDS) + 1))
    seconds: float = 0

    def count(self, outcome: str, seconds: float) -> None:
        self.outcomes[outcome] += 1
        self.durations[bisect_left(BOUNDS_SECONDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> Iterator[tuple[str, float]]:
        bounds = (*map(str, map(float, BOUNDS_SECONDS)), "+Inf")
        yield from zip(bounds, accumulate(self.durations), strict=True)


class Watched(NamedTuple):
    """What is asked for when somebody looks, because others count it."""

    running: int
    refused: int
    stored_bytes: int | None


class Metrics:
    """Implements `Meter`; told of calls by the event loop's thread alone."""

    def __init__(self) -> None:
        """Start at zero, now."""
        self._started = time.time()
        self._tallies: defaultdict[tuple[str, str], Tally] = defaultdict(Tally)
        self._traces = 0

    def call_ended(
        self, surface: str, name: str | None, error: BaseException | None, microseconds: int
    ) -> None:
        """Count a call."""
        outcome = "success" if error is None else _outcome(error)
        self._tallies[surface, name or MADE_UP].count(outcome, microseconds / MICROSECONDS)

    def trace_written(self) -> None:
        """Count a trace."""
        self._traces += 1

    def text(self, watched: Watched) -> bytes:
        """Return everything in Prometheus' text format."""
        registry = CollectorRegistry(auto_describe=False)
        # Reads /proc, so on Linux alone; elsewhere it has nothing to say.
        ProcessCollector(registry=registry)
        registry.register(_Told([*self._families(), *_watched_families(watched)]))
        return generate_latest(registry)

    def _families(self) -> Iterator[Metric]:
        yield InfoMetricFamily(
            "quarterdeck_build", "Which Quarterdeck is running", {"version": __version__}
        )
        yield GaugeMetricFamily(
            "quarterdeck_start_time_seconds", "When this process started", self._started
        )
        yield self._calls_family()
        yield self._durations_family()
        yield CounterMetricFamily(
            "quarterdeck_traces_written", "Traces committed by this process", self._traces
        )

    def _calls_family(self) -> Metric:
        labels = ("surface", "name", "outcome")
        family = CounterMetricFamily("quarterdeck_calls", "Calls that have ended", labels=labels)
        for (surface, name), tally in self._tallies.items():
            for outcome, count in tally.outcomes.items():
                family.add_metric((surface, name, outcome), count)
        return family

    def _durations_family(self) -> Metric:
        family = HistogramMetricFamily(
            "quarterdeck_call_duration_seconds",
            "How long calls took, their trace included",
            labels=("surface", "name"),
        )
        for labels, tally in self._tallies.items():
            family.add_metric(labels, list(tally.buckets()), tally.seconds)
        return family


class _Told(Collector):
    """Families that were made already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _watched_families(watched: Watched) -> Iterator[Metric]:
    yield GaugeMetricFamily("quarterdeck_calls_running", "Calls being served now", watched.running)
    yield CounterMetricFamily(
        "quarterdeck_requests_refused",
        "Requests refused because they had no valid credentials",
        watched.refused,
    )
    if watched.stored_bytes is not None:
        yield GaugeMetricFamily(
            "quarterdeck_store_bytes", "Size of the database", watched.stored_bytes
        )


def _outcome(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    known = error if isinstance(error, QuarterdeckError) else InternalError
    return known.category.lower()
