from hypothesis import given
from hypothesis import strategies as st

from shoal.comparison.results import pareto

few = st.integers(0, 4).map(float)


@given(st.lists(st.tuples(few, few), max_size=12))
def test_a_point_stays_unless_another_is_no_worse_in_both_and_better_in_one(points):
    beaten = [any(b != a and b[0] <= a[0] and b[1] <= a[1] for b in points) for a in points]
    assert pareto(points) == [not lost for lost in beaten]
