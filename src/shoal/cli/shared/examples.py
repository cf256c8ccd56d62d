"""Examples of each command for its help and the manual; the tests run them."""

from __future__ import annotations

EXAMPLES: dict[str, list[str]] = {
    "shoal demo": ["shoal demo --rows 400"],
    "shoal inspect": [
        "shoal datasets patients 400 -o patients.csv",
        "shoal inspect patients.csv --quasi birth_date,sex,postcode",
        "shoal inspect patients.csv -o start.yaml",
    ],
    "shoal anonymize": [
        "shoal anonymize patients.csv --schema patients.yaml -k 5 -o anonymous.csv",
        "shoal anonymize patients.csv --quasi birth_date,sex --sensitive diagnosis -k 4 "
        "--model 'l-diversity(2, diagnosis)' -O hierarchies=false -O effort=high -o fine.parquet",
        "shoal anonymize patients.csv --quasi birth_date,postcode -k 4 "
        "--hierarchy 'birth_date=dates: [year, decade]' --hierarchy 'postcode=mask: right' "
        "-o coarse.csv",
        "shoal anonymize patients.csv --schema patients.yaml -k 12 -o public.csv "
        "--evidence evidence",
    ],
    "shoal compare": [
        "shoal compare patients.csv --schema patients.yaml -k 5 --method mondrian "
        "--method flash:max_suppression=0.02 --metric ncp --picture runs.html -o runs.csv",
    ],
    "shoal verify": [
        "shoal verify anonymous.csv --schema patients.yaml -k 5",
        "shoal verify anonymous.csv --schema patients.yaml --original patients.csv --json",
    ],
    "shoal metrics": [
        "shoal metrics patients.csv anonymous.csv --schema patients.yaml",
        "shoal metrics patients.csv anonymous.csv --schema patients.yaml --metric ncp "
        "--metric discernibility --raw --json",
    ],
    "shoal evidence": [
        "shoal evidence patients.csv anonymous.csv --schema patients.yaml -k 5 -o pack",
    ],
    "shoal risk assess": [
        "shoal risk assess patients.csv anonymous.csv --schema patients.yaml "
        "--known birth_date,sex,postcode",
        "shoal risk assess patients.csv anonymous.csv --schema patients.yaml --wrong postcode=0.05 "
        "--json",
    ],
    "shoal risk attack": [
        "shoal datasets patients 400 --seed 1 -o others.csv",
        "shoal risk attack patients.csv anonymous.csv --schema patients.yaml --control others.csv",
    ],
    "shoal utility": [
        "shoal utility patients.csv anonymous.csv --schema patients.yaml --target cost "
        "--models ridge --features weights --folds 2",
    ],
    "shoal risk intersect": [
        "shoal anonymize patients.csv --schema patients.yaml -k 5 --method k-member -o other.csv",
        "shoal risk intersect anonymous.csv other.csv --original patients.csv "
        "--schema patients.yaml",
    ],
    "shoal risk records": [
        "shoal risk records anonymous.csv --schema patients.yaml --population patients.csv",
    ],
    "shoal risk columns": ["shoal risk columns patients.csv --most 2 --show 5"],
    "shoal risk link": ["shoal risk link patients.csv anonymous.csv --schema patients.yaml"],
    "shoal risk linked": [
        "shoal risk linked patients.csv --person patient_id --known ethnicity --events 1 -k 2",
    ],
    "shoal risk rehearse": [
        "shoal risk rehearse patients.csv --schema patients.yaml -k 5 "
        "--known birth_date,sex,postcode",
    ],
    "shoal risk suda": [
        "shoal risk suda patients.csv --quasi sex,postcode,occupation --sampling-fraction 0.05",
    ],
    "shoal dp plan": ["shoal dp plan --rows 30000 --epsilon 1.31 --delta 1e-6"],
    "shoal dp audit": ["shoal dp audit --runs 500"],
    "shoal dp ledger grant": ["shoal dp ledger grant ledger.json --epsilon 2 --delta 1e-6"],
    "shoal dp ledger spend": [
        "shoal dp ledger spend ledger.json --epsilon 0.5 --what 'counts by ward'",
    ],
    "shoal dp ledger show": ["shoal dp ledger show ledger.json"],
    "shoal keys new": ["shoal keys new -o key.bin"],
    "shoal keys split": ["shoal keys split key.bin --shares 5 --needed 3 -o part"],
    "shoal keys join": [
        "shoal keys join part.1.share part.2.share part.4.share -o restored.bin",
    ],
    "shoal keys rotate": [
        "shoal keys rotate key.bin -o next.bin --file patients.csv --column patient_id "
        "--domain study --translation pairs.csv",
    ],
    "shoal methods": ["shoal methods --json"],
    "shoal hierarchy make": [
        "shoal hierarchy make patients.csv --column postcode --recipe 'mask: right' "
        "-o postcode.csv",
        "shoal hierarchy make patients.csv --all -o hierarchies",
    ],
    "shoal hierarchy check": ["shoal hierarchy check postcode.csv patients.csv --column postcode"],
    "shoal hierarchy show": ["shoal hierarchy show postcode.csv --most 2"],
    "shoal datasets": ["shoal datasets"],
    "shoal datasets patients": ["shoal datasets patients 1000 --seed 7 -o more.parquet"],
}
