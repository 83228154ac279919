"""What is known of processes, on systems with /proc and by `ps` on those without."""

import os
import time

import psutil
import pytest

from quarterdeck.clients.processes.table import (
    HAS_PROC,
    Process,
    Table,
    all_processes,
    boot_id,
    marks,
    one_process,
    ps_marks,
    ps_processes,
    since_epoch,
)

LISTING = """\
    1     0     1 Ss   Sun Nov 15 09:00:00 2026
  412     1   412 S+   Sun Nov 15 09:01:02 2026
  413   412   412 Z    Sun Nov 15 09:01:03 2026
"""
WITH_ENVIRONMENT = """\
  412 node agent.js --acp HOME=/tmp QUARTERDECK_AGENT_MARK=n1:p1 LANG=C
  413 sh -c true HOME=/tmp
  414
"""


def test_the_table_knows_what_psutil_knows() -> None:
    me = psutil.Process()
    found = all_processes()[os.getpid()]
    assert (found.pid, found.parent, found.is_zombie) == (me.pid, me.ppid(), False)
    assert since_epoch(found.started) == pytest.approx(me.create_time(), abs=1.5)
    assert one_process(os.getpid()) == found
    assert not HAS_PROC or found.session == os.getsid(0)


def test_a_family_is_all_that_descend_from_its_eldest() -> None:
    parents = {1: 0, 2: 1, 3: 2, 4: 1, 5: 4, 6: 5}
    table = Table(Process(pid, parent, 0, 0.0, is_zombie=False) for pid, parent in parents.items())
    assert table.family([2, 5, 99]) == {2, 3, 5, 6}
    assert table.ancestors(6) == {6, 5, 4, 1}


def test_a_listing_of_ps_is_read() -> None:
    first, second, third = ps_processes(LISTING)
    began = time.mktime((2026, 11, 15, 9, 0, 0, 0, 0, -1))
    assert first == Process(1, 0, 1, began, is_zombie=False)
    assert second == Process(412, 1, 412, began + 62, is_zombie=False)
    assert third == Process(413, 412, 412, began + 63, is_zombie=True)


def test_marks_in_a_listing_of_ps_are_read() -> None:
    assert ps_marks(WITH_ENVIRONMENT) == {412: "n1:p1"}


def test_a_process_without_a_mark_has_none() -> None:
    assert os.getpid() not in marks([os.getpid()])


def test_a_boot_has_one_name() -> None:
    assert boot_id() == boot_id() != ""
