"""Employers, banks and call centres: staff, loans, campaigns, calls.

Traps: small levels that are numbers, salaries and balances that look like quasi-identifiers, job
titles that look like names, postcodes cut to three digits, an empty column, months without a year,
customers who call again, a file name with spaces and parentheses.
"""

from __future__ import annotations

import datetime as dt

from .sample import Cells, Draw, Form, Sample, joined, take

STATES = "CA NY TX FL IL NJ PA OH GA VA NC MI MD MA AZ WA CO MN CT MO IN NV TN OR WI AL SC LA"


def attrition(rows: int) -> Sample:
    """35 columns about employees in a spreadsheet: levels, years, income, constants."""
    d = Draw(201, rows)
    income = d.amount(4900, 0.6)
    cells: dict[str, Cells] = {
        "Age": d.number(37, 9, 18, 60, pull=0.6),
        "Attrition": d.chance(0.16, "Yes", "No"),
        "BusinessTravel": d.pick(["Travel_Rarely", "Travel_Frequently", "Non-Travel"], 1.6),
        "DailyRate": d.whole(102, 1499),
        "Department": d.pick(["Research & Development", "Sales", "Human Resources"], 1.3),
        "DistanceFromHome": d.number(9, 8, 1, 29, pull=0),
        "Education": d.number(2.9, 1, 1, 5),
        "EducationField": d.pick(
            [
                "Life Sciences",
                "Medical",
                "Marketing",
                "Technical Degree",
                "Other",
                "Human Resources",
            ]
        ),
        "EmployeeCount": [1] * rows,
        "EmployeeNumber": sorted(d.keys(1, 3 * rows)),
        "EnvironmentSatisfaction": d.whole(1, 4),
        "Gender": d.chance(0.6, "Male", "Female"),
        "HourlyRate": d.whole(30, 100),
        "JobInvolvement": d.number(2.7, 0.7, 1, 4, pull=0),
        "JobLevel": d.number(2, 1.1, 1, 5, pull=0.8),
        "JobRole": d.pick(
            (
                "Sales Executive,Research Scientist,Laboratory Technician,Manufacturing Director,"
                "Healthcare Representative,Manager,Sales Representative,Research Director,"
                "Human Resources"
            ).split(","),
            0.6,
        ),
        "JobSatisfaction": d.whole(1, 4),
        "MaritalStatus": d.pick("Married Single Divorced", 0.7),
        "MonthlyIncome": income,
        "MonthlyRate": d.whole(2094, 26999),
        "NumCompaniesWorked": d.number(2.6, 2.5, 0, 9, pull=0.4),
        "Over18": ["Y"] * rows,
        "OverTime": d.chance(0.28, "Yes", "No"),
        "PercentSalaryHike": d.number(15, 3.7, 11, 25, pull=0),
        "PerformanceRating": d.chance(0.15, 4, 3),
        "RelationshipSatisfaction": d.whole(1, 4),
        "StandardHours": [80] * rows,
        "StockOptionLevel": d.pick([0, 1, 2, 3], 1.2),
        "TotalWorkingYears": d.number(11, 7.8, 0, 40, pull=0.8),
        "TrainingTimesLastYear": d.number(2.8, 1.3, 0, 6, pull=0),
        "WorkLifeBalance": d.number(2.8, 0.7, 1, 4, pull=0),
        "YearsAtCompany": d.number(7, 6, 0, 40, pull=0.7),
        "YearsInCurrentRole": d.number(4.2, 3.6, 0, 18, pull=0.6),
        "YearsSinceLastPromotion": d.count(2.2),
        "YearsWithCurrManager": d.number(4.1, 3.6, 0, 17, pull=0.6),
    }
    return Sample.of(Form(file="Employee attrition (2024).xlsx"), cells)


def marketing(rows: int) -> Sample:
    """Contacts of a campaign: no identifier, jobs, balances, day and month without a year."""
    d = Draw(202, rows)
    cells: dict[str, Cells] = {
        "age": d.number(41, 10.6, 18, 95),
        "job": d.pick(
            "management blue-collar technician admin. services retired self-employed student "
            "unemployed entrepreneur housemaid unknown",
            0.8,
        ),
        "marital": d.pick("married single divorced"),
        "education": d.pick("secondary tertiary primary unknown"),
        "default": d.chance(0.02, "yes", "no"),
        "balance": [x - 700 for x in d.amount(1400, 1.0)],
        "housing": d.chance(0.56, "yes", "no"),
        "loan": d.chance(0.16, "yes", "no"),
        "contact": d.pick("cellular unknown telephone", 1.2),
        "day": d.whole(1, 31),
        "month": d.pick("may jul aug jun nov apr feb jan oct sep mar dec", 0.8),
        "duration": d.amount(180, 0.9),
        "campaign": [1 + x for x in d.count(1.7)],
        "pdays": [x if hit else -1 for x, hit in zip(d.whole(1, 400), d.chance(0.18), strict=True)],
        "previous": d.count(0.5),
        "poutcome": d.pick("unknown failure other success", 1.6),
        "y": d.chance(0.12, "yes", "no"),
    }
    return Sample.of(Form(file="marketing-contacts.csv", delimiter=";"), cells)


def calls(rows: int) -> Sample:
    """A log of calls: a customer calls again, a telephone number, an agent, times."""
    d = Draw(203, rows)
    caller = d.of_people(max(rows // 3, 1))
    c = Draw(204, int(caller.max()) + 1)
    agents = [
        f"{name.capitalize()} {x}."
        for name in "anna ben chloe dan eva finn gita".split()
        for x in "ABKMS"
    ]
    start = sorted(d.moment(2023, 2023))
    seconds = d.amount(240, 0.8)
    cells: dict[str, Cells] = {
        "Call ID": [f"CALL-{x:06}" for x in range(1, rows + 1)],
        "Customer No": take(c.keys(100_000, 999_999), caller),
        "Phone": take(c.code("+44 7### ######"), caller),
        "Customer Since": take(c.day(2009, 2022), caller),
        "Birth Year": take(c.number(1976, 15, 1932, 2005), caller),
        "Gender": take(c.pick("F M X", 0.9), caller),
        "Postcode Area": take(c.pick("LS B M L S NE BS CF G EH BT NR OX PL SO", 0.6), caller),
        "Tariff": take(c.pick("Basic Plus Family Business", 0.7), caller),
        "Agent": d.pick(agents, 0.2),
        "Start": start,
        "End": [at + dt.timedelta(seconds=x) for at, x in zip(start, seconds, strict=True)],
        "Duration (s)": seconds,
        "Queue Time": d.count(45),
        "Topic": d.pick("Billing,Technical,Contract,Cancellation,Complaint,Other".split(",")),
        "Resolved": d.chance(0.73, "Y", "N"),
        "Satisfaction rating": d.gaps(d.whole(1, 5), 0.4),
    }
    form = Form(
        file="call log.csv",
        times="{0.day}/{0.month}/{0:%Y %H:%M}",
        dates="{0.day}/{0.month}/{0:%Y}",
    )
    return Sample.of(form, cells)


def loans(rows: int) -> Sample:
    """56 columns about loans: titles of jobs, cut postcodes, balances, months as Dec-2015."""
    d = Draw(205, rows)
    funded = [25 * (x // 25) for x in d.amount(12_000, 0.5)]
    titles = [
        f"{rank}{job}".strip()
        for rank in ("", "Senior ", "Lead ", "assistant ", "Head ")
        for job in "Teacher,Manager,Nurse,driver,Engineer,Sales,Clerk,Owner,Analyst,Cook".split(",")
    ]
    months = [f"{month}-{year}" for year in (2014, 2015, 2016) for month in _MONTHS]
    grade = d.pick("B C A D E F G", 0.7)
    cells: dict[str, Cells] = {
        "id": d.keys(1_000_000, 70_000_000),
        "member_id": d.keys(1_000_000, 80_000_000),
        "loan_amnt": funded,
        "funded_amnt": funded,
        "funded_amnt_inv": [float(x) for x in funded],
        "term": d.chance(0.7, " 36 months", " 60 months"),
        "int_rate": d.number(13, 4.4, 5.3, 29, 2),
        "installment": d.amount(380, 0.5, 2),
        "grade": grade,
        "sub_grade": joined(grade, d.whole(1, 5)),
        "emp_title": d.gaps(d.pick(titles + [f"{x} Inc" for x in titles], 0.9), 0.06),
        "emp_length": d.pick(
            ["10+ years", "2 years", "< 1 year", "3 years", "1 year", "5 years", "n/a"], 0.6
        ),
        "home_ownership": d.pick("MORTGAGE RENT OWN ANY"),
        "annual_inc": d.amount(65_000, 0.5),
        "verification_status": d.pick(["Source Verified", "Verified", "Not Verified"], 0.3),
        "issue_d": d.pick(months, 0.1),
        "loan_status": d.pick(
            ["Current", "Fully Paid", "Charged Off", "Late (31-120 days)", "Default"], 1.3
        ),
        "pymnt_plan": ["n"] * rows,
        "url": joined("https://loans.example/detail?loan_id=", d.code("########")),
        "desc": d.gaps(
            joined("Borrower added on ", d.code("##/##/##"), " > ", d.pick(titles)), 0.8
        ),
        "purpose": d.pick(
            "debt_consolidation credit_card home_improvement other car medical moving"
        ),
        "title": d.gaps(
            d.pick(["Debt consolidation", "Credit card refinancing", "Home", "bills", "My loan"]),
            0.05,
        ),
        "zip_code": [f"{x:03}xx" for x in d.whole(6, 994)],
        "addr_state": d.pick(STATES, 0.7),
        "dti": d.number(18, 8.3, 0, 39.9, 2),
        "delinq_2yrs": d.count(0.3),
        "earliest_cr_line": joined(d.pick(_MONTHS, 0), "-", d.number(1998, 7, 1962, 2012)),
        "fico_range_low": [660 + 5 * x for x in d.count(6)],
        "inq_last_6mths": d.count(0.7),
        "mths_since_last_delinq": d.gaps(d.whole(0, 110), 0.5),
        "mths_since_last_record": d.gaps(d.whole(0, 118), 0.84),
        "open_acc": d.number(11.5, 5.3, 1, 50),
        "pub_rec": d.count(0.2),
        "revol_bal": d.amount(11_000, 0.9),
        "revol_util": d.number(54, 24, 0, 119, 1),
        "total_acc": d.number(25, 12, 3, 90),
        "initial_list_status": d.pick("f w", 0.5),
        "out_prncp": d.amount(6_000, 1.0, 2),
        "total_pymnt": d.amount(8_000, 0.9, 2),
        "total_rec_prncp": d.amount(6_000, 0.9, 2),
        "total_rec_int": d.amount(1_700, 0.9, 2),
        "total_rec_late_fee": [
            x if hit else 0.0 for x, hit in zip(d.real(5, 60, 2), d.chance(0.03), strict=True)
        ],
        "recoveries": [
            x if hit else 0.0 for x, hit in zip(d.amount(900, 1, 2), d.chance(0.05), strict=True)
        ],
        "last_pymnt_d": d.gaps(d.pick(months, 0.1), 0.01),
        "last_pymnt_amnt": d.amount(450, 1.1, 2),
        "next_pymnt_d": d.gaps(d.pick(["Jan-2017", "Feb-2017"]), 0.4),
        "last_credit_pull_d": d.pick(months, 0.1),
        "collections_12_mths_ex_med": d.count(0.02),
        "mths_since_last_major_derog": d.gaps(d.whole(0, 140), 0.75),
        "policy_code": [1] * rows,
        "application_type": d.chance(0.995, "INDIVIDUAL", "JOINT"),
        "annual_inc_joint": d.gaps(d.amount(110_000, 0.4), 0.995),
        "dti_joint": [None] * rows,
        "acc_now_delinq": d.chance(0.005),
        "tot_coll_amt": [
            x if hit else 0 for x, hit in zip(d.amount(500, 1), d.chance(0.14), strict=True)
        ],
        "tot_cur_bal": d.amount(90_000, 1.0),
    }
    return Sample.of(Form(file="loans-2014-2016.csv"), cells)


_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
