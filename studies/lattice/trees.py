"""Hierarchies for the lattice study, by the meaning of the values.

Schooling goes up by degree, work by the schooling that it takes, marriage by whether a spouse is
there.
"""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]

EDUCATION: Tree = {
    "no degree": {
        "no high school": [
            "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th",
        ],
        "high school": ["HS-grad"],
        "some college": ["Some-college", "Assoc-voc", "Assoc-acdm"],
    },
    "degree": {
        "bachelor": ["Bachelors"],
        "graduate": ["Masters", "Prof-school", "Doctorate"],
    },
}  # fmt: skip
MARITAL_STATUS: Tree = {
    "with spouse": ["Married-civ-spouse", "Married-AF-spouse"],
    "without": ["Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent"],
}
OCCUPATION: Tree = {
    "office": {
        "leading": ["Exec-managerial", "Prof-specialty"],
        "supporting": ["Tech-support", "Sales", "Adm-clerical", "Protective-serv"],
    },
    "manual": {
        "crafts": [
            "Craft-repair", "Transport-moving", "Machine-op-inspct", "Farming-fishing",
            "Handlers-cleaners",
        ],
        "service": ["Other-service", "Priv-house-serv", "Armed-Forces"],
    },
}  # fmt: skip

CENSUS_EDUCATION: Tree = {
    "no degree": {
        "no high school": [
            "Children", "Less than 1st grade", "1st 2nd 3rd or 4th grade", "5th or 6th grade",
            "7th and 8th grade", "9th grade", "10th grade", "11th grade", "12th grade no diploma",
        ],
        "high school": ["High school graduate"],
        "some college": [
            "Some college but no degree", "Associates degree-occup /vocational",
            "Associates degree-academic program",
        ],
    },
    "degree": {
        "bachelor": ["Bachelors degree(BA AB BS)"],
        "graduate": [
            "Masters degree(MA MS MEng MEd MSW MBA)", "Prof school degree (MD DDS DVM LLB JD)",
            "Doctorate degree(PhD EdD)",
        ],
    },
}  # fmt: skip
CENSUS_MARITAL_STATUS: Tree = {
    "with spouse": ["Married-civilian spouse present", "Married-A F spouse present"],
    "without": ["Never married", "Divorced", "Widowed", "Separated", "Married-spouse absent"],
}
CENSUS_OCCUPATION: Tree = {
    "office": {
        "leading": ["Executive admin and managerial", "Professional specialty"],
        "supporting": [
            "Technicians and related support", "Sales", "Adm support including clerical",
            "Protective services",
        ],
    },
    "manual or none": {
        "crafts": [
            "Precision production craft & repair", "Machine operators assmblrs & inspctrs",
            "Transportation and material moving", "Handlers equip cleaners etc",
            "Farming forestry and fishing",
        ],
        "service": ["Other service", "Private household services", "Armed Forces"],
        "none": ["Not in universe"],
    },
}  # fmt: skip
CENSUS_WORK: Tree = {
    "employed": ["Private", "Federal government", "State government", "Local government"],
    "self-employed": ["Self-employed-not incorporated", "Self-employed-incorporated"],
    "no pay": ["Not in universe", "Never worked", "Without pay"],
}
