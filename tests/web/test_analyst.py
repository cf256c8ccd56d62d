"""The analyst: a warm process that answers, can be interrupted, and shows no cell in an error."""

from __future__ import annotations

import os
import time
from concurrent.futures import CancelledError

import pytest
from tests.web.test_jobs import wait_until

from shoal.errors import InputError, ShoalError
from shoal.support.progress import report
from shoal.web.project.analyst import Analyst


def number_of_process(_):
    return os.getpid()


def fail_with_a_cell(_):
    raise ValueError("the cell is 4711-canary")


def fail_plainly(_):
    raise InputError("no column is there")


def die(_):
    os._exit(3)


def work_until_unwanted(_, begun):
    begun.touch()
    for step in range(100_000):  # a quarter of an hour, if nobody interrupts it
        report("work", step, None)
        time.sleep(0.01)
    return "finished"


def test_one_process_answers_all_questions(analyst):
    first = analyst.ask(number_of_process).result()
    assert first == analyst.ask(number_of_process).result() != os.getpid()


def test_errors_say_no_cell(analyst):
    with pytest.raises(ShoalError, match="ValueError") as caught:
        analyst.ask(fail_with_a_cell).result()
    assert "canary" not in str(caught.value)
    with pytest.raises(ShoalError, match="no column is there"):
        analyst.ask(fail_plainly).result()


def test_an_unwanted_question_makes_way_for_the_next(analyst, tmp_path):
    begun = tmp_path / "begun"
    slow = analyst.ask(work_until_unwanted, begun)
    assert wait_until(begun.exists)
    assert slow.cancel()
    assert isinstance(analyst.ask(number_of_process).result(120), int)
    with pytest.raises(CancelledError):
        slow.result()


def test_a_process_that_ends_is_replaced():
    with Analyst() as own:
        lost = own.ask(die)
        with pytest.raises(ShoalError, match="try again"):
            lost.result(120)
        assert isinstance(own.ask(number_of_process).result(120), int)
