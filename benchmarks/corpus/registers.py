"""Small registers of offices and clubs in five languages.

Traps: headers in German, Dutch, Polish, Italian and Portuguese, dates such as 03.07.1984 and
03/07/84, postcodes with a leading zero or a hyphen, national numbers, lines of a title above the
header of a spreadsheet, UTF-16 with and without a mark, windows-1252.
"""

from __future__ import annotations

import datetime as dt

from .sample import Draw, Form, Sample, age_at, joined

TODAY = dt.date(2024, 6, 30)


def german(rows: int) -> Sample:
    """Residents of a district: Geburtsdatum, PLZ, Familienstand."""
    d = Draw(501, rows)
    born = d.day(1931, 2005)
    streets = [
        f"{tree}{end}"
        for tree in "Linden Eichen Birken Ahorn Buchen Ulmen".split()
        for end in ("straße", "weg", "allee")
    ]
    cells = {
        "Lfd. Nr.": list(range(1, rows + 1)),
        "Nachname": d.surname(
            "Hof Berg Stein Klein Lang Wald Brink Haus Feld", "mann er meister bauer inger hoff"
        ),
        "Vorname": d.pick(
            "Anna Peter Maria Klaus Ursula Jürgen Sabine Uwe Käthe Jörg Heike Björn", 0.3
        ),
        "Geburtsdatum": born,
        "Geschlecht": d.pick("w m d", 1.1),
        "Familienstand": d.pick("verheiratet ledig geschieden verwitwet"),
        "Straße": joined(d.pick(streets, 0.2), " ", d.whole(1, 140)),
        "PLZ": [f"{x:05}" for x in d.pick([1067 + 37 * x for x in range(60)], 0.5)],
        "Ort": d.pick("Dresden Freital Radebeul Meißen Pirna Heidenau Coswig"),
        "Staatsangehörigkeit": d.pick(
            "deutsch polnisch syrisch türkisch ukrainisch italienisch", 2.4
        ),
        "Konfession": d.gaps(d.pick("keine ev. rk.", 1.1), 0.05),
        "Beruf": d.pick(
            "Bäckerin Lehrer Ingenieurin Pfleger Rentner Schülerin Händler Fahrer Beamtin Gärtner",
            0.4,
        ),
        "Pflegegrad": d.gaps(d.pick([1, 2, 3, 4, 5], 0.8), 0.8),
        "Einzugsdatum": d.gaps(d.day(1985, 2023), 0.03),
        "Rente": d.gaps(d.amount(1210, 0.4, 2), 0.6),
        "Telefon": d.gaps(d.code("0351 / 2######"), 0.3),
    }
    form = Form(
        file="melderegister.csv", delimiter=";", encoding="cp1252", decimal=",", dates="{:%d.%m.%Y}"
    )
    return Sample.of(form, cells)


def dutch(rows: int) -> Sample:
    """Applicants for social support, in a spreadsheet with a title above the header."""
    d = Draw(502, rows)
    cells = {
        "BSN": d.keys(100_000_000, 999_999_999),
        "Achternaam": d.surname(
            "van_ de_ Bak Dijk Boer Smit Viss Meij Hen", "ker stra sma huis veld mans"
        ),
        "Voorletters": joined(d.code("@."), d.pick(["", "A.", "J.", "M."], 0.3)),
        "Geboortedatum": d.day(1940, 2004),
        "Geslacht": d.pick("V M X", 1.3),
        "Postcode": d.code("35## @@"),
        "Woonplaats": d.pick("Utrecht Zeist Houten Nieuwegein Bunnik Maarssen"),
        "Burgerlijke staat": d.pick(
            "gehuwd,ongehuwd,gescheiden,verweduwd,geregistreerd partner".split(",")
        ),
        "Huishouden": d.number(2.3, 1.2, 1, 8),
        "Opleiding": d.pick("MBO HBO WO VMBO HAVO VWO", 0.6),
        "Uitkering": d.amount(1080, 0.3, 2),
        "Indicatie": d.pick(
            "huishoudelijke hulp,vervoer,rolstoel,begeleiding,dagbesteding".split(",")
        ),
        "Datum aanvraag": d.day(2022, 2023),
    }
    title = ("Overzicht aanvragen maatschappelijke ondersteuning", "Peildatum 31-12-2023")
    return Sample.of(Form(file="aanvragen wmo.xlsx", title=title), cells)


def polish(rows: int) -> Sample:
    """Patients of a clinic, UTF-16 without a mark, semicolons."""
    d = Draw(503, rows)
    born = d.day(1938, 2006)
    cells = {
        "PESEL": [f"{day:%y%m%d}{x:05}" for day, x in zip(born, d.whole(0, 99_999), strict=True)],
        "Imię": d.pick(
            "Anna Piotr Maria Krzysztof Katarzyna Andrzej Agnieszka Łukasz Żaneta Michał", 0.3
        ),
        "Nazwisko": d.surname(
            "Kowal Wiśniew Dąbrow Zieliń Szymań Woź Kamiń Lewan", "ski czyk iak ek owicz"
        ),
        "Data urodzenia": born,
        "Płeć": d.chance(0.54, "K", "M"),
        "Kod pocztowy": d.code("3#-#0#"),
        "Miejscowość": d.pick("Kraków Wieliczka Skawina Niepołomice Bochnia Tarnów Miechów"),
        "Województwo": d.pick("małopolskie śląskie podkarpackie", 2.5),
        "Stan cywilny": d.pick(
            "żonaty/zamężna,kawaler/panna,rozwiedziony/a,wdowiec/wdowa".split(",")
        ),
        "Zawód": d.pick(
            "nauczyciel rolnik kierowca sprzedawca inżynier emeryt lekarz student", 0.5
        ),
        "Rozpoznanie": d.pick("J06 I10 E11 M54 K29 F32 J45 N30 G43 L20 E03 I25", 0.7),
        "Data wizyty": d.day(2023, 2023),
        "Wzrost": d.number(170, 10, 140, 204),
        "Masa ciała": d.number(76, 15, 40, 160, 1),
    }
    form = Form(
        file="pacjenci.csv", delimiter=";", decimal=",", encoding="utf-16-le", dates="{:%d.%m.%Y}"
    )
    return Sample.of(form, cells)


def italian(rows: int) -> Sample:
    """Tax register of a town: codice fiscale, comune di nascita, reddito."""
    d = Draw(504, rows)
    born = d.day(1935, 2004)
    towns = "Torino Moncalieri Rivoli Collegno Nichelino Settimo Chieri Pinerolo Venaria".split()
    cells = {
        "codice_fiscale": d.code("@@@@@@##@##@###@"),
        "cognome": d.surname("Ros Bian Fer Rus Gal Con Mar Esp", "si chi rari so li ti ini osito"),
        "nome": d.pick("Maria Giuseppe Anna Antonio Lucia Marco Paola Luca Elena Niccolò", 0.3),
        "data_nascita": born,
        "eta": age_at(born, TODAY),
        "sesso": d.chance(0.51, "F", "M"),
        "comune_nascita": d.pick(
            towns + [f"{x} {y}" for x in towns for y in ("Alto", "Basso")], 0.6
        ),
        "comune_residenza": d.pick(towns),
        "cap": d.pick(
            ["10121", "10024", "10098", "10093", "10042", "10036", "10095", "10023"], 0.6
        ),
        "stato_civile": d.pick("coniugato celibe/nubile divorziato vedovo"),
        "cittadinanza": d.pick("italiana rumena marocchina albanese cinese", 2.5),
        "titolo_studio": d.pick("diploma licenza_media laurea licenza_elementare dottorato", 0.7),
        "professione": d.pick(
            "impiegato operaio pensionato insegnante commerciante artigiano medico studente", 0.5
        ),
        "reddito": d.amount(21_500, 0.5, 2),
        "imposta": d.amount(4_300, 0.7, 2),
        "esenzione": d.gaps(d.pick("E01 E02 C03 048"), 0.85),
    }
    form = Form(file="contribuenti.csv", dates="{:%d/%m/%Y}")
    return Sample.of(form, cells)


def portuguese(rows: int) -> Sample:
    """Pupils who receive a grant: UTF-16 with a mark and tabs, two-digit years."""
    d = Draw(505, rows)
    cells = {
        "CPF": d.code("###.###.###-##"),
        "Nome": joined(
            d.pick(
                "João Maria José Ana Antônio Francisca Carlos Adriana Paulo Márcia Conceição", 0.3
            ),
            " ",
            d.surname("da_Sil dos_San Oli Sou Perei Fer Al Cos", "va tos veira za ra reira ves ta"),
        ),
        "Data de nascimento": d.day(2001, 2009),
        "Sexo": d.chance(0.5, "Feminino", "Masculino"),
        "Cor/Raça": d.pick("Parda Branca Preta Amarela Indígena", 1.3),
        "Município": d.pick(
            "Recife Olinda Paulista Jaboatão Camaragibe Caruaru Petrolina Garanhuns", 0.8
        ),
        "UF": d.pick("PE PB AL", 3.0),
        "CEP": d.code("5####-###"),
        "Escola": joined(
            "EE ", d.surname("Dom_ Santa_ Padre_ Prof_", "Vital Rita Abreu Lima Melo Inês")
        ),
        "Série": d.number(8, 1.6, 5, 12),
        "Estado civil dos pais": d.pick("casados separados união_estável viúvo(a)"),
        "Renda familiar": d.amount(1_450, 0.6, 2),
        "Deficiência": d.gaps(d.pick("visual auditiva física intelectual"), 0.94),
        "Nota": d.number(6.2, 1.7, 0, 10, 1),
        "Data da matrícula": d.day(2022, 2023),
    }
    form = Form(
        file="bolsistas.txt", delimiter="\t", decimal=",", encoding="utf-16", dates="{:%d/%m/%y}"
    )
    return Sample.of(form, cells)
