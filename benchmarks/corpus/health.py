"""Hospitals and health surveys: stays, encounters, nutrition, screening.

Traps: upper-case identifiers that repeat, dates far in the future, `?` as a missing code, drug
columns with few values, codes 7 and 9 for refusals, sampling weights, strata, measurements with
decimals, headers in Korean, an encoding with a mark.
"""

from __future__ import annotations

import datetime as dt

from .sample import Cells, Draw, Form, Sample, banded, take

DIAGNOSES = (
    "SEPSIS,PNEUMONIA,GASTROINTESTINAL BLEED,CHEST PAIN,CONGESTIVE HEART FAILURE,FEVER,STROKE,"
    "HYPOTENSION,ALTERED MENTAL STATUS,ABDOMINAL PAIN,HIP FRACTURE,OVERDOSE,ACUTE RENAL FAILURE,"
    "HEADACHE,SEIZURE,SYNCOPE,PANCREATITIS,LIVER FAILURE,TRAUMA,ASTHMA"
).split(",")
DRUGS = (
    "metformin repaglinide nateglinide chlorpropamide glimepiride acetohexamide glipizide "
    "glyburide tolbutamide pioglitazone rosiglitazone acarbose miglitol troglitazone tolazamide "
    "examide citoglipton insulin glyburide-metformin glipizide-metformin glimepiride-pioglitazone "
    "metformin-rosiglitazone metformin-pioglitazone"
).split()


def stays(rows: int) -> Sample:
    """Stays in a hospital: patients with several, dates shifted into the future."""
    d = Draw(301, rows)
    patient = d.of_people(max(rows * 3 // 4, 1))
    p = Draw(302, int(patient.max()) + 1)
    arrived = d.moment(2120, 2190)
    dead = d.chance(0.1)
    left = d.later(arrived, 8)
    emergency = d.gaps([at - dt.timedelta(hours=5) for at in arrived], 0.4)
    cells: dict[str, Cells] = {
        "ROW_ID": d.keys(1, 50_000),
        "SUBJECT_ID": take(p.keys(10_000, 99_999), patient),
        "HADM_ID": d.keys(100_000, 199_999),
        "GENDER": take(p.chance(0.54, "M", "F"), patient),
        "DOB": take(
            [dt.datetime(day.year, day.month, day.day) for day in p.day(2040, 2100)], patient
        ),
        "ADMITTIME": arrived,
        "DISCHTIME": left,
        "DEATHTIME": [at if x else None for at, x in zip(left, dead, strict=True)],
        "ADMISSION_TYPE": d.pick("EMERGENCY ELECTIVE NEWBORN URGENT", 1.5),
        "ADMISSION_LOCATION": d.pick(
            (
                "EMERGENCY ROOM ADMIT,PHYS REFERRAL/NORMAL DELI,CLINIC REFERRAL/PREMATURE,"
                "TRANSFER FROM HOSP/EXTRAM,TRANSFER FROM SKILLED NUR"
            ).split(",")
        ),
        "DISCHARGE_LOCATION": d.pick(
            ["HOME", "HOME HEALTH CARE", "SNF", "REHAB/DISTINCT PART HOSP", "DEAD/EXPIRED"], 0.7
        ),
        "INSURANCE": take(
            p.pick(["Medicare", "Private", "Medicaid", "Government", "Self Pay"]), patient
        ),
        "LANGUAGE": take(
            p.gaps(p.pick("ENGL SPAN RUSS PTUN CANT PORT HAIT MAND", 1.8), 0.35), patient
        ),
        "RELIGION": take(
            p.gaps(
                p.pick(
                    [
                        "CATHOLIC",
                        "NOT SPECIFIED",
                        "PROTESTANT QUAKER",
                        "JEWISH",
                        "OTHER",
                        "BUDDHIST",
                    ]
                ),
                0.02,
            ),
            patient,
        ),
        "MARITAL_STATUS": take(
            p.gaps(p.pick("MARRIED SINGLE WIDOWED DIVORCED SEPARATED"), 0.15), patient
        ),
        "ETHNICITY": take(
            p.pick(
                [
                    "WHITE",
                    "BLACK/AFRICAN AMERICAN",
                    "HISPANIC OR LATINO",
                    "ASIAN",
                    "OTHER",
                    "UNKNOWN",
                ],
                1.5,
            ),
            patient,
        ),
        "EDREGTIME": emergency,
        "EDOUTTIME": [None if at is None else at + dt.timedelta(hours=4) for at in emergency],
        "DIAGNOSIS": d.pick(
            DIAGNOSES + [f"{x};{y}" for x in DIAGNOSES[:12] for y in DIAGNOSES[12:]], 0.9
        ),
        "HOSPITAL_EXPIRE_FLAG": dead,
        "HAS_CHARTEVENTS_DATA": d.chance(0.97),
    }
    return Sample.of(Form(file="hospital-stays.csv"), cells)


def encounters(rows: int) -> Sample:
    """50 columns of encounters of diabetic patients, repeated; `?` means missing."""
    d = Draw(303, rows)
    patient = d.of_people(max(rows * 7 // 10, 1))
    p = Draw(304, int(patient.max()) + 1)
    codes = (
        [f"{x}" for x in range(250, 790, 9)]
        + [f"250.{x:02}" for x in range(0, 93, 7)]
        + ["V57", "V58", "E888"]
    )
    cells: dict[str, Cells] = {
        "encounter_id": d.keys(12_000, 440_000_000),
        "patient_nbr": take(p.keys(135, 189_000_000), patient),
        "race": take(
            p.gaps(p.pick("Caucasian AfricanAmerican Hispanic Other Asian", 1.6), 0.02), patient
        ),
        "gender": take(p.chance(0.54, "Female", "Male"), patient),
        "age": take(
            [f"[{x // 10 * 10}-{x // 10 * 10 + 10})" for x in p.number(66, 16, 0, 99)], patient
        ),
        "weight": d.gaps(
            d.pick(["[75-100)", "[50-75)", "[100-125)", "[125-150)", "[25-50)"]), 0.97
        ),
        "admission_type_id": d.pick([1, 3, 2, 6, 5, 8, 7]),
        "discharge_disposition_id": d.pick([1, 3, 6, 18, 2, 22, 11, 5, 25, 4, 7], 1.4),
        "admission_source_id": d.pick([7, 1, 17, 4, 6, 2, 5], 1.3),
        "time_in_hospital": d.number(4.4, 3, 1, 14),
        "payer_code": d.gaps(d.pick("MC HM SP BC MD CP UN CM OG PO", 1.0), 0.4),
        "medical_specialty": d.gaps(
            d.pick(
                [
                    "InternalMedicine",
                    "Emergency/Trauma",
                    "Cardiology",
                    "Surgery-General",
                    "Orthopedics",
                ]
            ),
            0.49,
        ),
        "num_lab_procedures": d.number(43, 20, 1, 132),
        "num_procedures": d.number(1.3, 1.7, 0, 6),
        "num_medications": d.number(16, 8, 1, 81),
        "number_outpatient": d.count(0.4),
        "number_emergency": d.count(0.2),
        "number_inpatient": d.count(0.6),
        "diag_1": d.pick(codes, 0.8),
        "diag_2": d.gaps(d.pick(codes, 0.8), 0.004),
        "diag_3": d.gaps(d.pick(codes, 0.8), 0.014),
        "number_diagnoses": d.number(7.4, 1.9, 1, 16),
        "max_glu_serum": d.pick("None Norm >200 >300", 2.5),
        "A1Cresult": d.pick("None >8 Norm >7", 1.8),
    }
    for place, drug in enumerate(DRUGS):
        cells[drug] = (
            ["No"] * rows
            if drug in ("examide", "citoglipton")
            else d.pick("No Steady Up Down", 1.0 if drug == "insulin" else 2.5 + place / 20)
        )
    cells |= {
        "change": d.chance(0.46, "Ch", "No"),
        "diabetesMed": d.chance(0.77, "Yes", "No"),
        "readmitted": d.pick("NO >30 <30", 0.8),
    }
    return Sample.of(Form(file="diabetes-encounters.csv", missing="?"), cells)


def nutrition(rows: int) -> Sample:
    """A health examination survey: codes for columns, weights, strata, measurements, nutrients."""
    d = Draw(305, rows)
    age = d.number(38, 23, 0, 80, pull=0.5)
    adult = banded(age, (20,), (False, True))
    income = d.gaps(d.pick([15, 6, 7, 14, 8, 5, 9, 10, 4, 3, 77, 99], 0.5), 0.02)
    cells: dict[str, Cells] = {
        "SEQN": list(range(83_732, 83_732 + rows)),
        "SDDSRVYR": [9] * rows,
        "RIDSTATR": d.chance(0.95, 2, 1),
        "RIAGENDR": d.pick([2, 1], 0.1),
        "RIDAGEYR": age,
        "RIDAGEMN": [12 * x + 5 if x < 2 else None for x in age],
        "RIDRETH1": d.pick([3, 4, 1, 5, 2], 0.6),
        "RIDRETH3": d.pick([3, 4, 1, 6, 2, 7], 0.6),
        "RIDEXMON": d.gaps(d.chance(0.52, 2, 1), 0.04),
        "DMQMILIZ": _only(adult, d.pick([2, 1, 7], 3.5)),
        "DMDBORN4": d.pick([1, 2, 77], 2.5),
        "DMDCITZN": d.pick([1, 2, 7], 2.8),
        "DMDEDUC2": _only(adult, d.pick([4, 5, 3, 2, 1, 9], 0.7)),
        "DMDMARTL": _only(adult, d.pick([1, 5, 3, 6, 2, 4, 77])),
        "SIALANG": d.chance(0.86, 1, 2),
        "DMDHHSIZ": d.number(3.7, 1.7, 1, 7, pull=0),
        "DMDFMSIZ": d.number(3.5, 1.8, 1, 7, pull=0),
        "INDHHIN2": income,
        "INDFMIN2": d.gaps(income, 0.01),
        "INDFMPIR": d.gaps(d.number(2.4, 1.6, 0, 5, 2), 0.1),
        "WTINT2YR": d.amount(24_000, 0.8, 4),
        "WTMEC2YR": d.amount(25_000, 0.8, 4),
        "SDMVPSU": d.pick([1, 2], 0.1),
        "SDMVSTRA": d.whole(119, 133),
        "BMXWT": d.number(72, 24, 3.5, 190, 1, pull=0.6),
        "BMXHT": d.number(162, 14, 80, 202, 1, pull=0.5),
        "BMXBMI": d.number(27, 7, 12, 67, 1, pull=0.5),
        "BMXWAIST": d.gaps(d.number(93, 19, 40, 171, 1, pull=0.5), 0.1),
        "BMXARMC": d.number(31, 6, 13, 58, 1, pull=0.5),
        "BPXPULS": d.pick([1, 2], 4.0),
        "BPXSY1": d.gaps([2 * x for x in d.number(61, 9, 41, 117)], 0.2),
        "BPXDI1": d.gaps([2 * x for x in d.number(34, 7, 0, 59)], 0.2),
        "LBXTC": d.gaps(d.number(183, 41, 77, 545), 0.15),
        "LBDHDD": d.gaps(d.number(54, 16, 10, 189), 0.15),
        "LBXGH": d.gaps(d.number(5.7, 1.0, 3.8, 17, 1), 0.2),
        "LBXGLU": d.gaps(d.number(109, 34, 47, 480), 0.5),
    }
    nutrients = (
        "KCAL PROT CARB SUGR FIBE TFAT SFAT MFAT PFAT CHOL CALC IRON ZINC SODI POTA CAFF ALCO"
    )
    for place, nutrient in enumerate(nutrients.split()):
        cells[f"DR1T{nutrient}"] = d.gaps(d.amount(20 + 60 * place, 0.6, 2), 0.12)
    for question, values in {
        "ALQ101": [1, 2, 9],
        "DIQ010": [2, 1, 3, 9],
        "HUQ010": [3, 2, 1, 4, 5],
        "MCQ160F": [2, 1, 9],
        "PAQ650": [2, 1],
        "SMQ020": [2, 1, 7],
        "SLQ050": [2, 1, 9],
    }.items():
        cells[question] = _only(adult, d.pick(values, 1.4))
    cells["SLD012"] = _only(adult, d.number(7.6, 1.6, 2, 14.5, 1))
    return Sample.of(Form(file="nutrition-2015.csv"), cells)


def screening(rows: int) -> Sample:
    """A yearly check-up, headers in Korean and English, ages in classes of five years."""
    d = Draw(306, rows)
    cells: dict[str, Cells] = {
        "기준년도": [2021] * rows,
        "가입자일련번호": d.keys(1, 5_000_000),
        "성별코드": d.pick([1, 2], 0.1),
        "연령대코드(5세단위)": d.number(11, 3, 5, 18, pull=0.5),
        "시도코드": d.pick(
            [41, 11, 26, 48, 28, 47, 27, 44, 46, 45, 43, 42, 30, 31, 29, 49, 36], 0.7
        ),
        "신장(5cm단위)": [5 * x for x in d.number(32.5, 1.9, 26, 39)],
        "체중(5kg단위)": [5 * x for x in d.number(12.8, 2.6, 6, 27, pull=0.5)],
        "허리둘레": d.number(82, 10, 55, 130, 1, pull=0.5),
        "시력(좌)": d.pick([1.0, 1.2, 0.8, 0.9, 1.5, 0.7, 0.5, 9.9, 0.1], 0.6),
        "시력(우)": d.pick([1.0, 1.2, 0.8, 0.9, 1.5, 0.7, 0.5, 9.9, 0.1], 0.6),
        "청력(좌)": d.pick([1, 2], 4.0),
        "청력(우)": d.pick([1, 2], 4.0),
        "수축기혈압": d.number(124, 15, 78, 210),
        "이완기혈압": d.number(76, 10, 44, 130),
        "식전혈당(공복혈당)": d.number(101, 24, 60, 380),
        "총콜레스테롤": d.gaps(d.number(194, 40, 70, 460), 0.6),
        "혈색소": d.number(14.2, 1.6, 6, 19.4, 1),
        "요단백": d.pick([1, 2, 3, 4, 5], 3.0),
        "혈청크레아티닌": d.number(0.9, 0.3, 0.3, 5, 1),
        "AST": d.amount(24, 0.4),
        "ALT": d.amount(22, 0.5),
        "감마지티피": d.amount(24, 0.7),
        "흡연상태": d.pick([1, 3, 2], 0.9),
        "음주여부": d.pick([1, 0], 0.4),
        "구강검진수검여부": d.pick([0, 1], 0.5),
    }
    return Sample.of(Form(file="health_screening_2021.csv", encoding="utf-8-sig"), cells)


def _only(asked: Cells, cells: Cells) -> Cells:
    """Return the answers of the people who were asked; the others are missing."""
    return [cell if yes else None for yes, cell in zip(asked, cells, strict=True)]
