"""The vocabulary of the fictional hospital, with relative weights.

The people, the country, its names and its prices are fictional.
"""

from __future__ import annotations

from dataclasses import dataclass

Curve = tuple[tuple[int, float], ...]  # (age, height) points, straight lines between them


@dataclass(frozen=True)
class Occupation:
    """The occupation of a patient; female, rural and male multiply the weight."""

    name: str
    weight: float
    female: float = 1.0
    rural: float = 1.0
    male: float = 1.0
    ages: Curve = ((17, 0), (18, 0.3), (27, 1), (58, 1), (66, 0.5), (67, 0.04), (82, 0))


@dataclass(frozen=True)
class Diagnosis:
    """The reason of an admission; female, male and winter multiply the weight, cost is a median."""

    name: str
    weight: float
    ages: Curve
    cost: int
    female: float = 1.0
    male: float = 1.0
    winter: float = 1.0


# Admissions by age: high at birth, low in childhood, higher at childbearing age, rising with age.
AGES: Curve = (
    (0, 5.5),
    (1, 1.6),
    (5, 0.6),
    (14, 0.5),
    (20, 0.9),
    (31, 1.4),
    (42, 1.0),
    (55, 1.6),
    (68, 2.5),
    (78, 3.1),
    (85, 2.3),
    (92, 0.8),
    (104, 0.01),
    (105, 0),
)
FEMALE_SHARE: Curve = ((0, 0.46), (16, 0.5), (24, 0.63), (34, 0.63), (46, 0.46), (96, 0.65))
OTHER_SHARE = 0.004
SEXES = ("female", "male", "other")

# Population of each region, by setting and by the two digits its postcodes start with.
REGIONS: dict[str, dict[str, int]] = {
    "country": {"04": 3, "06": 2, "17": 2, "23": 4, "25": 3, "38": 3, "47": 3, "56": 3, "94": 2},
    "town": {"02": 4, "08": 5, "14": 4, "30": 7, "33": 4, "60": 10, "72": 6, "80": 11},
    "mills": {"40": 10, "42": 8, "51": 9},
    "harbour": {"01": 9, "20": 11},
    "capital": {"10": 16, "11": 9},
}
ETHNICITIES: dict[str, list[str]] = {
    "European": ["Northern European", "Southern European"],
    "Asian": ["East Asian", "South Asian"],
    "African": ["North African", "West African"],
    "Several or other": ["Mixed", "Other"],
}
ETHNICITY_BY_SETTING: dict[str, tuple[float, ...]] = {  # in the order of the leaves above
    "country": (94, 3, 0.5, 0.6, 0.3, 0.2, 1.0, 0.4),
    "town": (82, 6, 2, 3, 2, 1.2, 2.6, 1.2),
    "mills": (68, 6, 1.5, 16, 2.5, 1.5, 3, 1.5),
    "harbour": (63, 11, 6, 4, 8, 3, 3.5, 1.5),
    "capital": (54, 10, 7, 9, 6, 7, 5, 2),
}

CARE, OFFICE, SITE = 4.0, 1.2, 0.1  # how strongly a trade leans to women
EMPLOYED: dict[str, list[Occupation]] = {
    "Health and care": [
        Occupation("Nurse", 3.5, CARE),
        Occupation("Physician", 1.1, ages=((24, 0), (28, 1), (63, 1), (70, 0.1), (80, 0))),
        Occupation("Care assistant", 3, CARE),
        Occupation("Social worker", 1.4, CARE),
    ],
    "Education and science": [
        Occupation("School teacher", 3.4, 2.5),
        Occupation("Nursery teacher", 1.6, CARE),
        Occupation("Scientist", 0.6, rural=0.3),
    ],
    "Office": [
        Occupation("Office clerk", 6, 2.2),
        Occupation("Accountant", 1.8, OFFICE),
        Occupation("Civil servant", 3, OFFICE),
        Occupation("Lawyer", 0.6, rural=0.5),
        Occupation("Manager", 3, 0.6),
    ],
    "Technology": [
        Occupation("Software developer", 2.2, 0.25, 0.3),
        Occupation("Engineer", 2.4, 0.25),
        Occupation("Laboratory technician", 0.9, OFFICE),
        Occupation("Electrician", 1.8, SITE),
    ],
    "Trades and building": [
        Occupation("Bricklayer", 1.2, SITE),
        Occupation("Carpenter", 1.3, SITE, 1.4),
        Occupation("Plumber", 1.1, SITE),
        Occupation("Mechanic", 1.9, SITE, 1.3),
        Occupation("Factory worker", 4.5, 0.5),
    ],
    "Transport and safety": [
        Occupation("Lorry driver", 2.3, SITE, 1.4),
        Occupation("Bus driver", 0.8, 0.3),
        Occupation("Warehouse worker", 2.6, 0.4),
        Occupation("Police officer", 0.8, 0.5),
        Occupation("Firefighter", 0.3, SITE),
    ],
    "Sales and service": [
        Occupation("Shop assistant", 5, 2.5),
        Occupation("Cook", 1.8),
        Occupation("Waiter", 1.6, 1.6),
        Occupation("Hairdresser", 0.9, CARE),
        Occupation("Cleaner", 3, CARE),
    ],
    "Land and sea": [
        Occupation("Farmer", 0.5, 0.4, 12),
        Occupation("Forester", 0.15, 0.2, 10),
        Occupation("Gardener", 0.7, 0.5, 2),
    ],
}
LEARNING = [
    Occupation("Preschool child", 100, ages=((5, 1), (6, 0.3), (7, 0))),
    Occupation("Pupil", 100, ages=((4, 0), (5, 0.05), (6, 1), (15, 1), (18, 0.3), (20, 0))),
    Occupation("Apprentice", 40, 0.6, ages=((15, 0), (17, 1), (20, 0.7), (24, 0))),
    Occupation("Student", 45, rural=0.6, ages=((17, 0), (20, 1), (23, 0.8), (30, 0.03), (40, 0))),
]
AT_HOME = [
    Occupation("Unemployed", 5, ages=((16, 0), (20, 1), (62, 1), (67, 0))),
    Occupation("Homemaker", 1, 8, ages=((17, 0), (30, 1), (66, 1.5), (90, 0))),
    Occupation("Disability pensioner", 12, ages=((18, 0), (22, 0.2), (60, 1), (67, 0))),
    Occupation("Retired", 60, ages=((54, 0), (60, 0.1), (66, 1.2), (67, 2), (105, 2))),
]

FLAT: Curve = ((0, 1), (105, 1))
NEWBORN: Curve = ((0, 1), (1, 0))
CHILD: Curve = ((0, 0.7), (2, 1), (8, 0.5), (15, 0.1), (19, 0))
YOUNG: Curve = ((5, 0), (12, 0.5), (19, 1), (32, 0.7), (60, 0.2), (105, 0.05))
ADULT: Curve = ((14, 0), (25, 0.6), (45, 1), (65, 0.6), (105, 0.1))
MIDDLE: Curve = ((20, 0), (40, 0.4), (60, 1), (75, 0.9), (105, 0.4))
OLD: Curve = ((30, 0), (50, 0.2), (70, 1), (85, 1.3), (105, 1.3))
OLDEST: Curve = ((54, 0), (68, 0.3), (85, 1.6), (105, 2))
ENDS: Curve = ((0, 1.3), (4, 0.8), (12, 0.2), (50, 0.4), (75, 1.2), (105, 2))
FERTILE: Curve = ((15, 0), (16, 0.05), (24, 0.7), (31, 1), (39, 0.5), (48, 0.01), (49, 0))
PROSTATE: Curve = ((49, 0), (50, 0.1), (68, 1), (105, 1))

CHAPTERS: dict[str, list[Diagnosis]] = {
    "Infections": [
        Diagnosis("Gastroenteritis", 2.2, ENDS, 1900, winter=1.5),
        Diagnosis("Sepsis", 1.8, ENDS, 9800),
        Diagnosis("Chickenpox", 0.8, CHILD, 1400),
        Diagnosis("Scarlet fever", 0.6, CHILD, 1300, winter=1.6),
        Diagnosis("Whooping cough", 0.5, CHILD, 2600),
        Diagnosis("Tuberculosis", 0.15, ADULT, 7200),
        Diagnosis("Viral hepatitis", 0.3, ADULT, 4100),
        Diagnosis("HIV disease", 0.2, ADULT, 6300, male=2),
    ],
    "Cancer": [
        Diagnosis("Breast cancer", 2.4, MIDDLE, 8200, male=0.01),
        Diagnosis("Lung cancer", 2, OLD, 9400, male=1.4),
        Diagnosis("Bowel cancer", 2, OLD, 11200),
        Diagnosis("Prostate cancer", 3.2, PROSTATE, 7600, female=0),
        Diagnosis("Melanoma", 0.6, MIDDLE, 4200),
        Diagnosis("Leukaemia", 0.5, ENDS, 16800),
    ],
    "Hormones and metabolism": [
        Diagnosis("Type 1 diabetes", 0.7, YOUNG, 3100),
        Diagnosis("Type 2 diabetes", 2.2, MIDDLE, 3600),
        Diagnosis("Thyroid disorder", 1, ADULT, 3900, female=2.5),
        Diagnosis("Dehydration", 0.9, ENDS, 1700),
        Diagnosis("Severe obesity", 0.6, ADULT, 6900, female=1.6),
    ],
    "Mind and behaviour": [
        Diagnosis("Dementia", 2.6, OLDEST, 6800),
        Diagnosis("Depression", 2.4, ADULT, 7400, female=1.6),
        Diagnosis("Alcohol dependence", 2.2, ADULT, 3300, male=2.4),
        Diagnosis("Schizophrenia", 1, ADULT, 9900),
        Diagnosis("Anxiety disorder", 1, YOUNG, 4600, female=1.7),
        Diagnosis("Eating disorder", 0.15, YOUNG, 12400, female=8),
    ],
    "Nerves and brain": [
        Diagnosis("Epilepsy", 1, FLAT, 3400),
        Diagnosis("Migraine", 0.8, YOUNG, 1900, female=2.2),
        Diagnosis("Multiple sclerosis", 0.5, ADULT, 5200, female=2),
        Diagnosis("Parkinson disease", 0.9, OLDEST, 6100),
    ],
    "Heart and vessels": [
        Diagnosis("Heart failure", 5, OLDEST, 5400, winter=1.2),
        Diagnosis("Heart attack", 2.8, OLD, 8900, male=1.7),
        Diagnosis("Stroke", 3.2, OLD, 9300),
        Diagnosis("Irregular heartbeat", 3, OLD, 3700),
        Diagnosis("High blood pressure", 1.8, OLD, 2200),
        Diagnosis("Deep vein thrombosis", 0.6, MIDDLE, 3000),
    ],
    "Lungs and airways": [
        Diagnosis("Pneumonia", 3, ENDS, 4700, winter=1.8),
        Diagnosis("Influenza", 0.9, ENDS, 2800, winter=5),
        Diagnosis("Bronchiolitis", 2, ((0, 1), (1, 0.6), (3, 0)), 2900, winter=3),
        Diagnosis("Asthma", 2.2, CHILD, 2300),
        Diagnosis("Chronic bronchitis", 2.4, OLD, 4400, male=1.3, winter=1.5),
        Diagnosis("Tonsillitis", 2, CHILD, 2100, winter=1.3),
    ],
    "Digestion": [
        Diagnosis("Appendicitis", 1.8, YOUNG, 4900),
        Diagnosis("Gallstones", 1.8, ADULT, 4800, female=1.6),
        Diagnosis("Groin hernia", 0.3, MIDDLE, 3500, male=8),
        Diagnosis("Stomach ulcer", 0.7, MIDDLE, 4300),
        Diagnosis("Crohn disease", 0.6, YOUNG, 6000),
        Diagnosis("Liver cirrhosis", 0.7, MIDDLE, 7700, male=1.8),
    ],
    "Kidneys and bladder": [
        Diagnosis("Kidney stones", 1.4, ADULT, 3200, male=1.9),
        Diagnosis("Kidney failure", 1.5, OLD, 7900),
        Diagnosis("Urinary infection", 1.4, ENDS, 2700, female=2),
        Diagnosis("Enlarged prostate", 1.8, PROSTATE, 4000, female=0),
    ],
    "Pregnancy and childbirth": [
        Diagnosis("Normal delivery", 16, FERTILE, 2600, male=0),
        Diagnosis("Caesarean delivery", 7, FERTILE, 4500, male=0),
        Diagnosis("Miscarriage", 2, FERTILE, 1800, male=0),
        Diagnosis("Pre-eclampsia", 1, FERTILE, 3800, male=0),
    ],
    "Newborns": [
        Diagnosis("Premature birth", 5, NEWBORN, 18500),
        Diagnosis("Newborn jaundice", 7, NEWBORN, 2000),
        Diagnosis("Newborn infection", 4, NEWBORN, 5100),
    ],
    "Bones and injuries": [
        Diagnosis("Hip fracture", 3, OLDEST, 10400, female=1.8, winter=1.2),
        Diagnosis("Worn hip or knee", 3, OLD, 8700, female=1.3),
        Diagnosis("Back pain", 2, ADULT, 3100),
        Diagnosis("Rheumatoid arthritis", 0.5, MIDDLE, 4600, female=2.5),
        Diagnosis("Broken arm or leg", 2.4, YOUNG, 5000, male=2),
        Diagnosis("Concussion", 2.2, YOUNG, 1500, male=1.8),
        Diagnosis("Torn ligament", 1.3, YOUNG, 4100, male=1.8),
        Diagnosis("Burns", 0.4, CHILD, 6600),
        Diagnosis("Poisoning", 0.6, YOUNG, 2400),
    ],
}

# Words in one string, the most common first; as many names for women as for men.
FEMALE_NAMES = (
    "Anna Maria Elena Sofia Clara Julia Laura Emma Lena Nora Alice Ruth Eva Irene Helen Martha Ida "
    "Rosa Vera Paula Nina Greta Lucy Amina Leila Mei Priya Zahra Ines Carla Edith Judith Flora "
    "Hanna Olga Tara Yara Miriam Stella Agnes"
)
MALE_NAMES = (
    "Paul Thomas Martin Daniel David Peter Jonas Lukas Felix Max Simon Robert Victor Oscar Hugo "
    "Leon Adam Anton Emil Karl Marco Bruno Omar Karim Wei Arjun Samir Tariq Diego Louis Walter "
    "Arthur Frank George Henry Ivan Noah Ralph Stefan Theo"
)
SURNAME_STARTS = (
    "Al Bar Ber Bran Cal Cor Dal Dor El Fal Fen Gar Gol Hal Har Hol Kel Kor Lan Lin Lor Mal Mar "
    "Mel Mor Nel Nor Or Pel Ral Ros Sal San Sel Tal Tor Ul Val Ver Wen"
)
SURNAME_ENDS = (
    "bach berg by dale den dini dor feld ford gard ges grove ham holt ic ini kar ley lund man "
    "mer mont nik oba rani ris rov sen son stad tano ton vik wood"
)
