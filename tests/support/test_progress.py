import threading

import pytest

from shoal.support.progress import Progress, listening, part_of, report


def test_without_a_listener_a_report_goes_nowhere():
    assert report("search", 1, 2) is None


def test_the_innermost_listener_hears_and_then_hands_back():
    outer, inner = [], []
    with listening(outer.append):
        report("read", 1)
        with listening(inner.append):
            report("search", 1, 2)
        report("write", 3, 3)
    report("late", 0)
    assert outer == [Progress("read", 1, None), Progress("write", 3, 3)]
    assert inner == [Progress("search", 1, 2)]


def test_a_listener_may_interrupt_the_work():
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(stop):
        report("search", 1)
    report("search", 2)  # nobody listens any more


def test_a_listener_hears_its_own_thread_only():
    heard = []
    with listening(heard.append):
        other = threading.Thread(target=report, args=("elsewhere", 1))
        other.start()
        other.join()
    assert heard == []


def test_parts_count_as_one_stage():
    heard = []
    with listening(heard.append):
        for place in range(2):
            with part_of(2, place):
                report("search", 0, 10)
                report("search", 10, 10)
                report("look", 0)
        report("after", 1, 1)
    search = [Progress("search", done, 20) for done in (0, 10, 10, 20)]
    look = Progress("look", 0)
    assert heard == [*search[:2], look, *search[2:], look, Progress("after", 1, 1)]


def test_parts_without_a_listener_go_nowhere():
    with part_of(2, 1):
        assert report("search", 1, 2) is None
