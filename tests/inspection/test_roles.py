"""Roles in tables as cities, hospitals and employers publish them: nobody is given away."""

import random
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

import shoal
from shoal.files.schema import load_yaml
from shoal.inspection import describe, suggest_schema

N = 600


def drawn(make, rows=N, seed=None):
    """Return a value for each row, the same in every run, independent of other columns."""
    source = random.Random(seed or str(make.__code__.co_firstlineno))
    return [make(source) for _ in range(rows)]


def one_of(*values):
    return drawn(lambda source: source.choice(values), seed=str(values))


def number(low, high):
    return drawn(lambda source: source.randint(low, high), seed=f"{low} {high}")


def suggested(**columns):
    """Return the columns as described, in a table that has a quasi-identifier besides."""
    rows = len(next(iter(columns.values())))
    sexes = drawn(lambda source: source.choice("fm"), rows)
    found = describe(pa.table({**columns, "sex": sexes}))["columns"]
    return {c["name"]: c for c in found if c["name"] in columns}


def roles(**columns):
    return {name: column["role"] for name, column in suggested(**columns).items()}


def words(source):
    return " ".join(source.choice(("lamp", "near", "house", "of", "Kim")) for _ in range(8))


def stays():
    """Hospital stays, several of a patient."""
    return pa.table(
        {
            "encounter_id": range(10_000, 10_000 + N),
            "patient_nbr": number(10**6, 10**6 + 400),
            "race": one_of("Caucasian", "Asian", "?"),
            "age": one_of("[0-10)", "[10-20)", "[90-100)"),
            "admission_type_id": number(1, 6),
            "discharge_disposition_id": number(1, 28),
            "num_medications": number(1, 60),
            "diag_1": one_of("250.83", "V57", "428"),
            "readmitted": one_of("NO", "<30", ">30"),
        }
    )


def requests():
    """What people ask of a city, with places."""
    return pa.table(
        {
            "id": range(N),
            "opened": drawn(lambda s: datetime(2020, 1, 1) + timedelta(seconds=s.randrange(10**7))),
            "Address": [f"{i} Main St" for i in range(N)],
            "Neighbourhood Name": [f"hood {i % 30}" for i in range(N)],
            "latitude": drawn(lambda s: round(43.6 + s.random() / 5, 6)),
            "longitude": drawn(lambda s: round(-79.6 + s.random() / 3, 6)),
            "x": number(630_000, 639_000),
            "y": number(4_830_000, 4_839_000),
            "Location": drawn(lambda s: f"({43 + s.random():.6f}, {-79 - s.random():.6f})"),
            "details": drawn(words),
            "Request Type": one_of("lamp", "road"),
        }
    )


def appointments():
    return pa.table(
        {
            "PatientId": drawn(lambda s: float(s.randrange(10**10, 10**10 + 400))),
            "AppointmentID": range(5_600_000, 5_600_000 + N),
            "AppointmentDay": drawn(lambda s: date(2016, 5, s.randint(1, 28))),
            "Age": number(0, 99),
            "Neighbourhood": one_of("A", "B"),
            "Hipertension": number(0, 1),
            "No-show": one_of("Yes", "No"),
        }
    )


def staff():
    return pa.table(
        {
            "EmployeeNumber": range(1, N + 1),
            "EmployeeCount": [1] * N,
            "MonthlyIncome": number(1_000, 20_000),
            "Attrition": one_of("Yes", "No"),
            "JobSatisfaction": number(1, 4),
            "PhoneService": one_of("No", "Yes"),
            "YearsAtCompany": number(0, 40),
        }
    )


def passengers():
    return pa.table(
        {
            "PassengerId": range(1, N + 1),
            "Name": [f"Smith, Mr. {i}" for i in range(N)],
            "Ticket": drawn(lambda s: f"A/5 {s.randint(1, 2_000)}"),
            "Fare": drawn(lambda s: round(s.random() * 100, 4)),
            "Survived": number(0, 1),
        }
    )


EXPECTED = {
    stays: {
        "encounter_id": "identifier",
        "patient_nbr": "identifier",
        "race": "quasi",
        "age": "quasi",
        "admission_type_id": "decide",
        "discharge_disposition_id": "decide",
        "num_medications": "sensitive",
        "diag_1": "sensitive",
        "readmitted": "sensitive",
    },
    requests: {
        "id": "identifier",
        "opened": "quasi",
        "Address": "identifier",
        "Neighbourhood Name": "quasi",
        "latitude": "quasi",
        "longitude": "quasi",
        "x": "quasi",
        "y": "quasi",
        "Location": "identifier",
        "details": "identifier",
        "Request Type": "decide",
    },
    appointments: {
        "PatientId": "identifier",
        "AppointmentID": "identifier",
        "AppointmentDay": "quasi",
        "Age": "quasi",
        "Neighbourhood": "quasi",
        "Hipertension": "sensitive",
        "No-show": "sensitive",
    },
    staff: {
        "EmployeeNumber": "identifier",
        "EmployeeCount": "leave out",
        "MonthlyIncome": "leave out",
        "Attrition": "sensitive",
        "JobSatisfaction": "sensitive",
        "PhoneService": "decide",
        "YearsAtCompany": "quasi",
    },
    passengers: {
        "PassengerId": "identifier",
        "Name": "identifier",
        "Ticket": "identifier",
        "Fare": "quasi",  # for want of others
        "Survived": "sensitive",
    },
}


@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
def test_every_column_of_a_table_has_a_role_and_a_reason(make):
    columns = describe(make())["columns"]
    assert {c["name"]: c["role"] for c in columns} == EXPECTED[make]
    assert all(c["reason"] for c in columns)


@pytest.mark.filterwarnings("ignore::shoal.table.roles.UnassignedColumns")
@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
def test_the_suggested_schema_leads_to_a_release_without_cells_of_one_row(make):
    data = make()
    table = shoal.read(data, load_yaml(suggest_schema(describe(data))))
    published = shoal.anonymize(table, shoal.KAnonymity(3), "mondrian").to_arrow()
    assert published.column_names
    for name in published.column_names:
        cells = data[name].cast(pa.string()).to_pylist()
        own = {cell for cell in cells if cells.count(cell) == 1}
        assert not own & set(published[name].to_pylist())


def test_the_number_of_patients_is_the_person():
    assert describe(stays())["person"] == ["patient_nbr"]
    assert describe(appointments())["person"] == ["PatientId"]
    assert describe(passengers())["person"] == []


def test_a_text_that_repeats_is_no_person_without_the_name_of_one():
    found = describe(passengers().drop_columns(["PassengerId", "Name"]))
    assert found["person"] == []
    hint = next(hint for hint in found["hints"] if hint["columns"] == ["Ticket"])
    assert "person=…" in hint["hint"]
    assert "rows_are_people=True" in hint["hint"]


def test_coordinates_are_rounded_and_numbered_kinds_are_not():
    recipes = {c["name"]: c["hierarchy"] for c in describe(requests())["columns"]}
    assert recipes["latitude"] == {"intervals": [0.01, 0.1]}
    assert recipes["x"] == {"intervals": [500, 1000, 2000, 4000]}
    columns = {c["name"]: c for c in describe(stays())["columns"]}
    for name in ("admission_type_id", "discharge_disposition_id"):
        assert (columns[name]["hierarchy"], columns[name]["declare"]) == (None, "category")
    levels = {
        c["name"]: c for c in describe(pa.table({"YearsInCurrentRole": number(0, 18)}))["columns"]
    }
    assert levels["YearsInCurrentRole"]["hierarchy"] == {"intervals": [2, 4]}
    assert levels["YearsInCurrentRole"]["declare"] == "integer"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("lat", "quasi"),
        ("pickup_longitude", "quasi"),
        ("Start Lng", "quasi"),
        ("long_term_debt", "leave out"),
        ("load", "leave out"),
    ],
)
def test_positions_go_by_their_names(name, role):
    values = drawn(lambda source: source.random() * 90)
    column = suggested(**{name: values})[name]
    assert column["role"] == role
    assert column["reason"].startswith("a position") == (role == "quasi")


def test_numbers_and_codes_are_identifiers_whatever_their_count():
    shared = number(1, 10)
    own = list(range(N))
    assert roles(ward_id=shared, shop_name=one_of("s1", "s2", "s3"), bed_number=shared) == {
        "ward_id": "identifier",
        "shop_name": "decide",
        "bed_number": "identifier",
    }
    assert set(roles(ward_id=own, shop_name=[f"s{i}" for i in own], bed_no=own).values()) == {
        "identifier"
    }
    assert roles(patient_id=shared, first_name=["Kim", "Lee"] * (N // 2)) == {
        "patient_id": "identifier",  # few people with many rows
        "first_name": "identifier",
    }


def test_what_sounds_private_is_not_published_if_everyone_has_their_own():
    own, shared = [1000 + 7 * i for i in range(N)], number(1, 5)
    assert roles(income=own) == {"income": "leave out"}
    assert roles(income=shared) == {"income": "sensitive"}
    assert roles(diagnosis=[f"text {i}" for i in range(N)]) == {"diagnosis": "identifier"}


def test_yes_and_no_about_a_telephone_is_no_telephone():
    assert roles(phone=one_of("yes", "no")) == {"phone": "decide"}
    assert roles(address=one_of("U", "R")) == {"address": "decide"}
    assert roles(phone=[f"0{i}" for i in range(N)]) == {"phone": "identifier"}


def test_free_text_is_an_identifier_and_decides_no_person():
    texts = drawn(words, N - 1)
    found = describe(pa.table({"what": [*texts, texts[0]], "age": number(1, 90)}))
    what = found["columns"][0]
    assert (what["role"], what["reason"]) == ("identifier", "free text")
    assert (found["person"], found["people"]) == ([], N)
    table = shoal.read(pa.table({"what": [*texts, texts[0]], "age": number(1, 90)}),
                       load_yaml(suggest_schema(found)))  # fmt: skip
    assert table.people == N


def test_columns_that_single_people_out_together_are_pointed_out():
    """Each value is shared by many, each pair of values by none."""
    data = pa.table(
        {
            "score": [i // 25 for i in range(N)],
            "grade": [i % 25 for i in range(N)],
            "age": number(30, 40),
        }
    )
    found = describe(data)
    assert found["singling_out"]["sentences"] == [
        "score and grade are published unchanged and together single out 600 of 600 people (100 %)"
    ]
    assert describe(data, ["score", "grade", "age"])["singling_out"] is None


def test_lists_are_not_published():
    assert roles(visits=[[1, 2]] * N) == {"visits": "leave out"}


def test_of_dates_of_birth_and_ages_one_is_kept_and_the_others_named():
    ages = number(18, 80)
    bands = ["young" if age < 30 else "middle" if age < 60 else "old" for age in ages]
    days = drawn(lambda source: source.randint(0, 364))
    born = [date(2020 - age, 1, 1) - timedelta(days=d) for age, d in zip(ages, days, strict=True)]
    found = suggested(dob=born, age=ages, age_cat=bands)
    assert {name: c["role"] for name, c in found.items()} == {
        "dob": "leave out",
        "age": "quasi",
        "age_cat": "leave out",
    }
    assert all("age, which is kept" in found[name]["reason"] for name in ("dob", "age_cat"))


def test_copies_and_columns_that_follow_from_a_quasi_identifier_are_left_out():
    salaries = drawn(lambda source: 1000 * source.randint(1, 9))
    bands = [f"{pay - 500} to {pay + 500}" for pay in salaries]
    opened = drawn(lambda source: date(2020, 1, 1) + timedelta(days=source.randint(0, 700)))
    later = [day + timedelta(days=i % 3) for i, day in enumerate(opened)]
    found = suggested(
        income=bands, midpoint_income=salaries, screening_date=opened, sent_date=later
    )
    assert {name: c["role"] for name, c in found.items()} == {
        "income": "sensitive",
        "midpoint_income": "leave out",
        "screening_date": "quasi",
        "sent_date": "leave out",
    }
    assert found["midpoint_income"]["reason"] == "says the same as income"
    towns = one_of("a", "b", "c", "d")
    rich = ["yes" if town in "ab" else "no" for town in towns]
    assert suggested(town=towns, wealthy=rich)["wealthy"]["reason"] == "follows from town"


def test_at_most_eight_quasi_identifiers_are_suggested_those_known_best():
    names = ("tenure", "language", "employer", "job", "school", "married", "birth_country",
             "city", "gender", "age", "religion", "children", "insurance")  # fmt: skip
    columns = {name: drawn(lambda s: s.randint(1, 7), seed=name) for name in names}
    found = describe(pa.table(columns))["columns"]
    chosen = {c["name"] for c in found if c["role"] == "quasi"}
    assert chosen == {
        "job",
        "school",
        "married",
        "birth_country",
        "city",
        "gender",
        "age",
        "children",
    }
    assert {c["name"] for c in found if c["role"] == "decide"} == {
        "tenure", "language", "employer", "insurance"
    }  # fmt: skip


def test_empty_and_constant_columns_are_left_out():
    assert roles(seen=pa.nulls(N, pa.string()), over_18=["Y"] * N) == {
        "seen": "leave out",
        "over_18": "leave out",
    }


def test_numbers_that_pass_a_check_by_chance_are_no_tax_numbers():
    codes = drawn(lambda s: f"{s.randint(10**10, 10**11 - 1)}")
    described = suggested(drug_code=[codes[i % 60] for i in range(N)])["drug_code"]
    assert (described["role"], described["contains"]) == ("sensitive", {})
