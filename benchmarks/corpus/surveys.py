"""Surveys: students, attitudes in 119 columns, living conditions in Spanish.

Traps: thirty columns of small levels, headers that are a letter and a number, weights, times of
interviews, codes 8 and 9 for no answer, income beside its midpoint, decimal commas, an encoding
without a mark.
"""

from __future__ import annotations

import datetime as dt

from .sample import Cells, Draw, Form, Sample, banded

PROVINCES = (
    "Madrid,Barcelona,Valencia,Sevilla,Alicante,Málaga,Murcia,Cádiz,Vizcaya,La Coruña,Asturias,"
    "Zaragoza,Pontevedra,Granada,Tarragona,Córdoba,Gerona,Almería,Toledo,Badajoz,Jaén,Navarra,"
    "Cantabria,Castellón,Huelva,Valladolid,Ciudad Real,León,Lérida,Cáceres,Albacete,Burgos,"
    "Salamanca,Lugo,Álava,La Rioja,Orense,Guadalajara,Huesca,Cuenca,Zamora,Ávila,Palencia,"
    "Segovia,Teruel,Soria"
).split(",")


def students(rows: int) -> Sample:
    """33 columns about students of two schools, most of them levels from 0 to 5."""
    d = Draw(401, rows)
    jobs = "other services teacher at_home health"
    cells: dict[str, Cells] = {
        "school": d.chance(0.65, "GP", "MS"),
        "sex": d.chance(0.59, "F", "M"),
        "age": d.number(16.7, 1.2, 15, 22),
        "address": d.chance(0.7, "U", "R"),
        "famsize": d.chance(0.7, "GT3", "LE3"),
        "Pstatus": d.chance(0.88, "T", "A"),
        "Medu": d.number(2.5, 1.1, 0, 4, pull=0.6),
        "Fedu": d.number(2.3, 1.1, 0, 4, pull=0.6),
        "Mjob": d.pick(jobs, 0.8),
        "Fjob": d.pick(jobs, 1.2),
        "reason": d.pick("course home reputation other", 0.8),
        "guardian": d.pick("mother father other", 1.5),
        "traveltime": d.number(1.5, 0.8, 1, 4, pull=0),
        "studytime": d.number(1.9, 0.8, 1, 4),
        "failures": [min(x, 3) for x in d.count(0.22)],
    }
    for name, share in {
        "schoolsup": 0.1,
        "famsup": 0.61,
        "paid": 0.06,
        "activities": 0.48,
        "nursery": 0.8,
        "higher": 0.89,
        "internet": 0.77,
        "romantic": 0.37,
    }.items():
        cells[name] = d.chance(share, "yes", "no")
    for name, mean in {
        "famrel": 3.9,
        "freetime": 3.2,
        "goout": 3.2,
        "Dalc": 1.5,
        "Walc": 2.3,
        "health": 3.5,
    }.items():
        cells[name] = d.number(mean, 1.1, 1, 5)
    cells |= {
        "absences": d.count(3.6),
        "G1": d.number(11.4, 2.7, 0, 19, pull=0.8),
        "G2": d.number(11.6, 2.9, 0, 19, pull=0.8),
        "G3": d.number(11.9, 3.2, 0, 19, pull=0.8),
    }
    return Sample.of(Form(file="students-por.csv", delimiter=";"), cells)


def attitudes(rows: int) -> Sample:
    """119 columns: the interview, the person, ninety opinions, and weights at the end."""
    d = Draw(402, rows)
    born = d.number(1972, 18, 1925, 2005)
    start = sorted(d.moment(2020, 2020))
    cells: dict[str, Cells] = {
        "respid": list(range(10_000_001, 10_000_001 + rows)),
        "study": [5270] * rows,
        "version": ["1-0-0 (2021-05-25)"] * rows,
        "splt20": d.chance(0.5, 1, 2),
        "xdate": start,
        "xend": [
            at + dt.timedelta(minutes=x)
            for at, x in zip(start, d.number(55, 14, 21, 140), strict=True)
        ],
        "interviewer": d.whole(1001, 1140),
        "eastwest": d.chance(0.68, 1, 2),
        "land": d.pick([5, 9, 8, 3, 6, 14, 7, 11, 1, 12, 15, 16, 2, 13, 10, 4], 0.6),
        "gkpol": d.number(4, 1.5, 1, 7, pull=0),
        "sex": d.pick([1, 2], 0.05),
        "yborn": born,
        "mborn": d.whole(1, 12),
        "age": [2020 - x for x in born],
        "agec": banded([2020 - x for x in born], (30, 45, 60, 75, 90), (1, 2, 3, 4, 5, 6)),
        "german": d.pick([1, 3, 2], 2.4),
        "educ": d.pick([3, 5, 2, 4, 1, 7], 0.6),
        "mstat": d.pick([1, 5, 4, 3, 2], 0.9),
        "hhsize": d.number(2.4, 1.2, 1, 8),
        "work": d.pick([1, 4, 2, 3], 0.8),
        "isco08": d.gaps(d.pick(list(range(1110, 9629, 67)), 0.6), 0.3),
        "rd01": d.pick([3, 1, 2, 6, 4, 5], 1.0),
        "inc": d.gaps([50 * (x // 50) for x in d.amount(1700, 0.6)], 0.2),
    }
    for place in range(1, 91):
        levels = (2, 4, 5, 7, 10)[place % 5]
        cells[f"v{place:03}"] = d.gaps(d.number(levels / 2, levels / 4, 1, levels, pull=0.2), 0.03)
    cells |= {
        "feeling_thermometer": d.whole(0, 100),
        "hs16": d.number(172, 9, 148, 203),
        "hs17": d.number(79, 16, 43, 160),
        "wghtpew": d.pick([1.2, 0.55], 0.6),
        "wghtht": d.amount(1, 0.4, 6),
        "wghthtew": d.amount(1, 0.5, 6),
    }
    return Sample.of(Form(file="attitudes-2020.csv", missing="-9", delimiter="\t"), cells)


def income(rows: int) -> Sample:
    """Living conditions in Spanish, latin-1 with decimal commas: income, province, tenure."""
    d = Draw(403, rows)
    earned = d.amount(24_000, 0.5, 2)
    born = d.number(1970, 18, 1928, 2004)
    cells: dict[str, Cells] = {
        "Identificador": [f"H{x:07}" for x in d.keys(1, 9_999_999)],
        "Año": [2022] * rows,
        "Provincia": d.pick(PROVINCES, 0.8),
        "Municipio": [f"{x:05}" for x in d.pick(list(range(1001, 50_297, 131)), 0.7)],
        "Sexo": d.chance(0.51, "Mujer", "Varón"),
        "AñoNacimiento": born,
        "Edad": [2022 - x for x in born],
        "EstadoCivil": d.pick("Casado/a,Soltero/a,Viudo/a,Divorciado/a,Separado/a".split(",")),
        "Nacionalidad": d.pick(
            "España,Marruecos,Rumanía,Colombia,Italia,China,Ecuador".split(","), 2.6
        ),
        "NivelEstudios": d.pick(
            "Secundaria,Superior,Primaria,Bachillerato,FP,Ninguno".split(","), 0.6
        ),
        "Profesión": d.pick(
            "Administrativo,Comercio,Hostelería,Construcción,Docente,Sanidad,Agricultura,Conductor,"
            "Limpieza,Directivo,Informática,Jubilado".split(","),
            0.4,
        ),
        "SituaciónLaboral": d.pick("Ocupado,Jubilado,Parado,Inactivo,Estudiante".split(",")),
        "TamañoHogar": d.number(2.7, 1.2, 1, 9),
        "NúmeroHijos": [min(x, 7) for x in d.count(0.9)],
        "RégimenTenencia": d.pick(
            "Propiedad pagada,Propiedad hipotecada,Alquiler,Cesión".split(",")
        ),
        "SuperficieVivienda": d.number(92, 31, 25, 350),
        "Ingresos": earned,
        "IngresosTramo": banded(
            earned, (12e3, 18e3, 24e3, 36e3, 60e3), ("A", "B", "C", "D", "E", "F")
        ),
        "Prestaciones": [
            x if hit else 0.0 for x, hit in zip(d.amount(4200, 0.6, 2), d.chance(0.2), strict=True)
        ],
        "GastoAlimentación": d.amount(420, 0.4, 2),
        "GastoVivienda": d.amount(510, 0.5, 2),
        "RiesgoPobreza": d.chance(0.2, "Sí", "No"),
        "SaludPercibida": d.pick("Buena,Muy buena,Regular,Mala,Muy mala".split(",")),
        "FactorElevación": d.amount(1150, 0.4, 3),
    }
    form = Form(file="condiciones-de-vida-2022.csv", delimiter=";", decimal=",", encoding="latin-1")
    return Sample.of(form, cells)
