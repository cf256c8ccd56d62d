"""Names from a browser: no folder, no invisible character, and the ending of the format."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from shoal.web.uploads import display_name, table_suffix


@given(st.text(max_size=300))
def test_a_shown_name_has_no_folder_and_no_invisible_character(name):
    shown = display_name(name)
    assert 1 <= len(shown) <= 120
    assert not re.search(r"[/\\\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\ufeff]", shown)
    assert display_name(shown) == shown


def test_the_ending_of_a_long_name_is_kept():
    assert table_suffix("x" * 500 + ".csv.gz") == ".csv.gz"
