"""An independent judge of releases: plain loops and dicts over published rows, no Shoal code."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

PERSON, HOUSEHOLD = UNITS = ("the person", "the household")  # keys that no column has


def classes(rows, quasi):
    """Return the published rows that look alike, each class as a list of rows."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(known(row[name]) for name in quasi)].append(row)
    return list(found.values())


def known(cell):
    """Return a cell, None if it is missing: a file shows an empty text and a NaN as nothing."""
    return None if cell == "" or cell != cell else cell


def size(members):
    """Return how many people, or households if that is fewer, the rows are about."""
    return min(len(set(_whose(members, unit))) for unit in UNITS)


def _whose(rows, unit):
    """Return whom each row is about; one that does not say is about a person of its own."""
    return [row.get(unit, ("row", place)) for place, row in enumerate(rows)]


def keeps(part, members, everybody):
    """Tell whether one class keeps one model, from its definition.

    Rows may say whom they are about under the names of UNITS. A person counts once for each value.
    """
    if part.name == "k-anonymity":
        return size(members) >= part.k
    if part.name == "risk":
        return max(chances(members).values()) <= part.maximum + 1e-12
    seen, people = people_with(part.column, members)
    before, everyone = people_with(part.column, everybody)
    share = {value: count / people for value, count in seen.items()}
    usual = {value: count / everyone for value, count in before.items()}
    spread = {value: count / seen.total() for value, count in seen.items()}
    if part.name in ("l-diversity", "entropy-l-diversity", "recursive-l-diversity"):
        filled = [row for row in members if known(row[part.column]) is not None]
        both = [members] if part.count_missing else [members, filled]
        return all(is_diverse(part, *people_with(part.column, rows)) for rows in both)
    if part.name == "t-closeness":
        off = sum(abs(spread.get(v, 0) - before[v] / before.total()) for v in before)
        return off / 2 <= part.t + 1e-9
    if part.name == "alpha-k-anonymity":
        return size(members) >= part.k and max(share.values()) <= part.alpha + 1e-12
    if part.name == "delta-disclosure":
        return all(v in share and abs(math.log(share[v] / usual[v])) < part.delta for v in usual)
    if part.name == "beta-likeness":
        limits = {
            v: min(part.beta, -math.log(p)) if part.enhanced else part.beta
            for v, p in usual.items()
        }
        return all(p <= usual[v] * (1 + limits[v]) + 1e-9 for v, p in share.items())
    raise AssertionError(f"the oracle does not know {part.name}")


def chances(members):
    """Return how likely an attacker who knows a class finds each of its people."""
    whose = Counter(_whose(members, PERSON))
    return {who: max(1 / size(members), rows / len(members)) for who, rows in whose.items()}


def keeps_release(part, classes, population, quasi, paths):
    """Tell whether all classes together keep one model, from its definition.

    population: the rows of everyone, None if it is not stated. They may say whom they are about;
        households count if all rows name theirs.
    paths: for each column with a hierarchy, the labels of each value.
    """
    if part.name == "average-risk":
        found = defaultdict(float)
        for members in classes:
            for who, chance in chances(members).items():
                found[who] = max(found[who], chance)
        return sum(found.values()) / len(found) <= part.maximum + 1e-12
    if part.name == "km-anonymity":
        return fewest_with_rows(classes, part.m) >= part.k
    boxes = [members[0] for members in classes]
    of_rows = fits(boxes, population, quasi, paths)  # the classes that each row may be in
    homes = all(HOUSEHOLD in row for row in population)
    units = UNITS if homes else (PERSON,)
    return all(_keeps_population(part, classes, population, of_rows, unit) for unit in units)


def _keeps_population(part, classes, population, of_rows, unit):
    """Tell whether all classes keep a model of the population, counting one unit."""
    fitting = defaultdict(set)  # the classes that each person, or household, may be in
    for who, row in zip(_whose(population, unit), of_rows, strict=True):
        fitting[who] |= row
    everyone = [sum(box in each for each in fitting.values()) for box in range(len(classes))]
    if part.name == "k-map":
        return min(everyone) >= part.k
    if part.name == "delta-presence":
        here = [len(set(_whose(members, unit))) for members in classes]
        shares = [[here[box] / everyone[box] for box in each] for each in fitting.values()]
        low, high = part.low - 1e-12, part.high + 1e-12
        return all(sum(each) <= high and max(each, default=0) >= low for each in shares)
    raise AssertionError(f"the oracle does not know {part.name}")


def fewest_with_rows(classes, m):
    """Return the fewest people who have a multiset of at most m rows that one person has.

    A person has it if she has, in each class, at least as many rows.
    """
    held = defaultdict(Counter)
    for place, members in enumerate(classes):
        for row in members:
            held[row[PERSON]][place] += 1
    wanted = {
        known
        for mine in held.values()
        for size in range(1, m + 1)
        for known in combinations(sorted(mine.elements()), size)
    }
    return min(sum(Counter(known) <= mine for mine in held.values()) for known in wanted)


def most_rows_kept(rows, k, m):
    """Return how many rows can be released if k people have any m rows of a person.

    All cells hidden is the best case: then only the numbers of rows matter.
    """
    numbers = sorted(Counter(row[PERSON] for row in rows).values(), reverse=True)
    shared = numbers[k - 1] if len(numbers) >= k else 0  # so many rows are had by k people
    return sum(numbers) if shared >= m else sum(min(number, shared) for number in numbers)


def is_diverse(part, seen, people):
    """Tell whether values, each with the people who show it, are l-diverse; none are not."""
    if not seen:
        return False
    if part.name == "l-diversity":
        return min(len(seen), people) >= part.l
    if part.name == "entropy-l-diversity":
        entropy = -sum(n / seen.total() * math.log(n / seen.total()) for n in seen.values())
        return min(entropy, math.log(people)) >= math.log(part.l) - 1e-9
    counts = sorted(seen.values(), reverse=True)
    return people >= part.l and counts[0] < part.c * sum(counts[part.l - 1 :])


def people_with(column, rows):
    """Return how many people show each value, and how many people there are."""
    pairs = set(zip(_whose(rows, PERSON), (known(row[column]) for row in rows), strict=True))
    return Counter(value for _, value in pairs), len({person for person, _ in pairs})


def covers(cell, value, paths):
    """Tell whether a published cell may stand for the original value.

    paths: for each value, its labels up the hierarchy, where the column has one.
    """
    text = written(value)
    if cell == value or cell == "*" or written(cell) == text:
        return True
    if value in paths and cell in paths[value]:
        return True
    if not isinstance(cell, str):
        return False
    if _is_number(value) and not cell.startswith("["):  # 8, 8.0 and 8.00 are one number
        listed = cell.removesuffix(" or missing").removeprefix("{").removesuffix("}")
        return any(_exact(member) == _exact(value) for member in listed.split(", "))
    if cell.endswith(" or missing"):
        return value is None or covers(cell.removesuffix(" or missing"), value, {})
    if cell.startswith("{") and cell.endswith("}"):
        quoted = '"' + text.replace('"', '""') + '"'
        return any(f", {way}, " in f", {cell[1:-1]}, " for way in (text, quoted))
    if cell.startswith("[") and cell.endswith("]") and value is not None:
        ends = cell[1:-1].split(", ")
        if not isinstance(value, str):
            return _exact(ends[0]) <= _exact(value) <= _exact(ends[1])
        order = ["low", "mid", "high"]
        if not {*ends, value} <= set(order):
            return False
        return order.index(ends[0]) <= order.index(value) <= order.index(ends[1])
    return False


def _is_number(value):
    """Tell whether a value is a number, which a file may spell in several ways."""
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def _exact(number):
    """Return a number, or its text, to compare exactly; a time compares as its text does.

    A float stands for its shortest text.
    """
    try:
        return Fraction(repr(number) if isinstance(number, float) else number)
    except (TypeError, ValueError):
        return str(number)


def is_kept_or_hidden(cell, value):
    """Tell whether a published cell is the value itself or says nothing."""
    return cell == "*" or written(cell) == written(value)


def written(value):
    """Return a value as text: whole numbers without a point, booleans in lower case."""
    if known(value) is None:
        return "missing"
    if isinstance(value, bool):
        return str(value).lower()
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value)


def fits(rows, everybody, quasi, paths):
    """Return, for each original, the published rows (by place) that may stand for it.

    paths: for each column with a hierarchy, the labels of each value.
    """
    seen = {}

    def is_in(name, cell, value):
        key = name, written(cell), written(value)
        if key not in seen:
            seen[key] = covers(cell, value, paths.get(name, {}))
        return seen[key]

    return [
        {
            j
            for j, row in enumerate(rows)
            if all(is_in(name, row[name], was[name]) for name in quasi)
        }
        for was in everybody
    ]


def keeps_coverage(part, graph, rows, sizes):
    """Tell whether people, each row with the records that it fits, keep a model of coverage.

    Record i is that of row i, which says whom it is about. Partners are counted as people. Rows of
    a class of k people keep every such model; sizes: of the class of each row.
    """
    people = [row[PERSON] for row in rows]
    small = [i for i, count in enumerate(sizes) if count < part.k]
    load = defaultdict(set)
    for i, records in enumerate(graph):
        for record in records:
            load[record].add(people[i])
    fitting = all(len({people[j] for j in graph[i]}) >= part.k for i in small)
    fitted = all(len(load[i]) >= part.k for i in small)
    if part.name == "one-k-anonymity":
        return fitting
    if part.name == "k-one-anonymity":
        return fitted
    if part.name == "k-k-anonymity":
        return fitting and fitted
    if part.name == "k-concealment":
        return all(
            len({people[j] for j in graph[i] if _may_have(graph, i, j)}) >= part.k for i in small
        )
    if part.name == "freeform-anonymity":
        return fitting and fitted and _deals_out(graph, people, small, part.k)
    raise AssertionError(f"the oracle does not know {part.name}")


def _may_have(graph, person, record):
    """Tell whether the others can still be matched once a person has this record.

    They start from their own; whose is taken moves on, until somebody takes the person's.
    """
    moving, moved = [record], {record}
    while moving:
        if person == record:
            return True
        for other in graph[moving.pop()] - moved:
            if other == person:
                return True
            moved.add(other)
            moving.append(other)
    return False


def _deals_out(graph, people, small, k):
    """Tell whether each small row can have records of k people, each small record rows of k people.

    No row has two records of one person, no record two rows of one person: a flow through a gate
    for each row and person, and one for each record and person, pushed one unit at a time. Others
    may take part: they join in after the small ones are served, from either side.
    """
    left = defaultdict(lambda: defaultdict(int))
    for i, records in enumerate(graph):
        start, end = ("from", "to") if i in small else ("free", "open")
        left[start]["row", i] = left["record", i][end] = k
        for j in records:
            left["row", i]["asks", i, people[j]] = 1
            left["asks", i, people[j]]["gives", people[i], j] = 1
            left["gives", people[i], j]["record", j] = 1
    # what must be filled is fed and drained apart from what may be: a flow with lower bounds
    left["free"]["to"] = left["from"]["open"] = k * len(small)
    left["open"]["free"] = k * len(graph)

    def push():
        came, waiting = {"from": None}, ["from"]
        while waiting and "to" not in came:
            at = waiting.pop()
            for onward, room in left[at].items():
                if room and onward not in came:
                    came[onward] = at
                    waiting.append(onward)
        at = "to"
        if at not in came:
            return False
        while came[at] is not None:
            left[came[at]][at] -= 1
            left[at][came[at]] += 1
            at = came[at]
        return True

    return all(push() for _ in range(2 * k * len(small)))
