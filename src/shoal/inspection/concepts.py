"""What the name of a column says about its meaning: one word list per concept, in eight languages.

The first concept whose words fit decides, so a concept that qualifies another comes before it: a
job satisfaction is an opinion, not a job. The table below is the only place with such words.

How words are written: they are compared with the parts of a name between underscores, after
`folded_name`, which lowers the case and splits `birthDate`; digits after a part are ignored. `*`
stands for any letters, `_` between letters for an optional underscore, `^` for the first and `$`
for the last part.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from shoal.support.wording import folded_name
from shoal.table.column import Role

_PEOPLE = (  # the words for people of a table, before id, number, name
    "patient person pers subject participant respondent resp member customer cust client user"
    " student pupil employee emp staff worker citizen resident insured passenger beneficiary"
    " subscriber holder account card driver inmate offender defendant victim applicant"
    " borrower donor guest player athlete voter child mother individual indiv panelist proband"
    " patienten kunde kunden versicherten versicherungs kranken mitglieds mitglied schueler"
    " einwohner konto personal mitarbeiter teilnehmer assure eleve salarie usager patiente"
    " individu paciente cliente alumno empleado usuario estudiante ciudadano aluno funcionario"
    " utente cidadao paziente studente dipendente cittadino klant leerling medewerker"
    " deelnemer pacjent pacjenta klient klienta uczen pracownik"
)


class Advice(StrEnum):
    """What to do with a column that gets no role; it is not published.

    Attributes:
        LEAVE_OUT: Nobody needs it: empty, constant, a copy, or too exact to publish.
        DECIDE: Name and values do not say what it is; only the owner knows.
    """

    LEAVE_OUT = "leave out"
    DECIDE = "decide"


@dataclass(frozen=True)
class Concept:
    """A meaning that a column may have.

    Parameters:
        what: The meaning in words, for the reason of a suggestion.
        role: The role of such a column.
        words: Names of such columns, written as this module says.
        unless: Words that show another meaning.
        only: The values that it has: `text`, `number` or `date`; any if empty.
        rank: How well people outside know it, 1 best; 0 if it is no quasi-identifier.
    """

    what: str
    role: Role | Advice
    words: str
    unless: str = ""
    only: str = ""
    rank: int = 0

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
        return _pattern(self.words), _pattern(self.unless) if self.unless else None

    def fits(self, folded: str) -> bool:
        """Return whether a folded name has a word of the concept, and none of another."""
        words, unless = self._patterns
        return bool(words.search(folded)) and not (unless and unless.search(folded))


def _pattern(words: str) -> re.Pattern[str]:
    """Return a regular expression for the words of a concept."""
    first, last, parts = r"(?:^|_)", r"[0-9]*(?:$|_)", []
    for word in words.split():
        plain = re.sub(r"(?<![*\]])_(?![*\[])", "_?", word.strip("^$")).replace("*", "[a-z0-9]*")
        start = "^_?" if word.startswith("^") else first
        parts.append(f"{start}{plain}{'[0-9]*_?$' if word.endswith('$') else last}")
    return re.compile("|".join(parts))


def _with_people(*endings: str) -> str:
    people = _PEOPLE.split()
    return " ".join(f"{who}_{end} {who}*_{end}" for who in people for end in endings)


WEIGHT = Concept(
    "a sampling weight", Role.WEIGHT,
    "samp*_w*t sampl*_factor survey_w* design_w* pers*_w* final_w* fin_w* pop*_w*"
    " household_w* calib*_w* grossing_factor expansion_factor post_strat* weighting"
    " weighting_factor person_factor ^wt$ ^wgt$ fnlwgt pweight pwgt perwt hhwt pwgtp wgtp"
    " finalwt wt*yr ^weights$ w*t_final instance_weight hochrechnungsfaktor gewichtungsfaktor"
    " hochrechnungs_faktor gewichtung poids_sondage poids_final poids_ponder* ponderation"
    " ponderacion factor_expansion factor_elev* ponderazione ponderacao peso_amostral"
    " peso_muestral peso_campionario wegingsfactor weegfactor waga_analityczna pspwght dweight"
    " pweight",
    unless="body birth height kg lb lbs",
)  # fmt: skip
FREE_TEXT = Concept(
    "free text", Role.IDENTIFIER,
    "comment* remark* note notes notiz* bemerk* kommentar* freitext free_text anamnes*"
    " commentaire* observacion* observaco* comentario* osservazion* commento commenti"
    " opmerking* toelichting uwagi komentarz descri* narrat* summary message* complaint_text"
    " *_complaint detail* text beschreibung abstract headline",
    only="text",
)  # fmt: skip
CONTACT = Concept(
    "an address, a telephone or another direct identifier", Role.IDENTIFIER,
    "e_mail* *email* *_mail phone* *phone mobile telef* tel$ fax handy* ^address*"
    " home_address street_address addr adr adress* adresse* direccion domicilio indirizzo endereco"
    " morada adres strasse street* rue calle ulica url homepage website ip ip_addr* ssn nhs"
    " nhs_n* mrn iban bic passport* paszport dni nif nie curp cpf codice_fiscale bsn pesel nip"
    " imei vin licen[cs]e_plate licen[cs]e_n* plate* kennzeichen matricula targa"
    " immatriculation login username user_name screen_name twitter insurance_n*"
    " social_security* sozialversicherungs* sv_nummer svnr numero_secu nir krankenkassen_n*"
    " versichertennummer house_n* hausnummer numero_casa credit_card_n* card_n* konto_n*"
    " account_n* tax_id taxid steuer_id steuernummer",
    unless="service services use usage type line lines plan state city zip country region",
)  # fmt: skip
PERSON_NAME = Concept(
    "names of people", Role.IDENTIFIER,
    "^name$ ^names$ ^first$ ^last$ ^full_name$ surname* sur_name fore_name* first_name* last_name*"
    " middle_name* given_name* maiden_name nick_name* family_name vorname* nachname*"
    " familienname name_vorname prenom* ^nom$ nom_prenom nom_famille nombre$ nombre_completo"
    " nombre_apellido* apellido* primer_nombre ^nome$ nome_completo nome_cognome sobrenome"
    " apelido cognome voornaam achternaam ^naam$ imie nazwisko imie_nazwisko author actor"
    " official_name short_name long_name known_as doctor*_name physician*_name teacher*_name"
    " owner*_name father*_name parent*_name spouse*_name officer*_name contact_name lead_name"
    " signature initials "
    + _with_people("name"),
    only="text",
)  # fmt: skip
PERSON_NUMBER = Concept(
    "a number of people", Role.IDENTIFIER,
    "^id$ ^uuid$ ^guid$ pid ^hash$ seqn idnum pers_nr pnr matrikel* matr_nr nip_pacjenta"
    " ^patient$ ^person$ ^participant$ ^subject$ ^respondent$ ^customer$ ^client$ ^student$"
    " ^pupil$ ^member$ ^user$ ^proband$ ^kunde$ ^mitglied$ ^caseid$ case_id case_n* fall_n*"
    " fallnummer num_cas krankenaktennummer nhc historia_clinica id_*person id_usager"
    " id_patient id_paciente id_cliente id_client "
    + _with_people("id", "nr", "nbr", "no", "num", "number", "nummer", "key", "hash", "code"),
    unless="*type kind class group category status source age score level count house phone",
)  # fmt: skip
NUMBER = Concept(
    "a number or code of records", Role.IDENTIFIER,
    "id$ *_ids$ nr$ nbr$ num$ *number$ *nummer$ numero$ no$ key$ ref$ uuid guid hash serial*"
    " itemid ticket* barcode index$ row_n* rownum* record_n* lfd_nr laufende_n* ^numero$"
    " num_acc id_*"
    " ^nr_* folio expediente matricule dossier aktenzeichen",
    unless=(
        "*type kind class group category status source disposition level number_of num_of"
        " no_of reason *educ* phone_service flag mode segment tier role"
    ),
)  # fmt: skip
BIRTH = Concept(
    "a date or year of birth", Role.QUASI,
    "*birth* born dob yob geb *geburt* *naissance nais datnais ne_le nacimiento f_nac fec_nac fnac"
    " nascimento nasc data_nasc nascita geboorte* geb_datum *urodz* ^byear b_year birthdate",
    unless=(
        "*weight *gewicht place *ort lieu lugar local luogo *plaats miejsce country *land"
        " pays pais state city order length rate control certificate type region parent*"
        " mother* father*"
    ),
    rank=1,
)  # fmt: skip
AGE = Concept(
    "an age", Role.QUASI,
    "age senior_citizen ages agegroup age_* *_age$ ridageyr agep alter altersgruppe *alter$"
    " ^age_annees edad"
    " grupo_edad idade faixa_etaria eta eta_anni fascia_eta leeftijd* wiek grupa_wiekowa"
    " tranche_age anciennete_age",
    unless=(
        "car vehicle account building house *haus property home policy device machine loan"
        " equipment credit first onset diagnosis debut start stop quit"
    ),
    rank=1,
)  # fmt: skip
SEX = Concept(
    "sex or gender", Role.QUASI,
    "sex sexe sexo sesso genre genero genere gender riagendr geschlecht geslacht plec ^male$"
    " ^female$ gndr is_male is_female sex_* *_sex *_gender ^mann$ ^frau$ gender_* civilite"
    " anrede",
    unless="offen* partner* work* orient* music movie book",
    rank=2,
)  # fmt: skip
HOUSEHOLD = Concept(
    "the household", Role.QUASI,
    "*children* ^kids kids$ num_kids *kidhome *teenhome dmdhhsiz dmdfmsiz kinder*"
    " anzahl_kinder n_kinder *enfants hijos n_hijos"
    " num_hijos filhos num_filhos figli kinderen dzieci liczba_dzieci dependents dependants"
    " n*_dep* *sibling* sib_sp parch spouse household_size hh_size hhsize *famil*_size"
    " household_members persons_in* n_pers* haushaltsgroesse personen_haushalt taille_menage"
    " nb_pers* tamano_hogar n_componenti gezinsgrootte famsize fam_size relationship"
    " family_status household_type hh_type haushaltstyp type_menage tipo_hogar children",
    unless="income satisf* support violen* history",
    rank=9,
)  # fmt: skip
ORIGIN = Concept(
    "origin or nationality", Role.QUASI,
    "race races ethni* ridreth* *_ethnicity ethnie etnia raza raca razza rasa *origin*"
    " nationali* nacionalidad nacionalidade nazionalita nationaliteit narodowosc obywatelstwo"
    " staatsang* citizen* ciudadania cittadinanza cidadania herkunft* geburtsland geburtsort"
    " *birth_place *place_birth country_birth *birth_country birth_state birth_city lieu_nais*"
    " pays_nais* lugar_nac* pais_nac* naturalidade luogo_nascita geboorteland geboorteplaats"
    " miejsce_urodzenia immigra* migra* hispan* latino indigenous tribe caste native_country"
    " *_birth$ parent*_birth",
    unless="senior",
    rank=4,
)  # fmt: skip
MARITAL = Concept(
    "marital status", Role.QUASI,
    "marital* married marstat mar_stat dmdmart* civil_status familienstand"
    " situation_matrimoniale etat_matrimonial etat_civil situation_famil* estado_civil"
    " stato_civile burgerlijke_staat burgerlijkestaat stan_cywilny partnership_status maritl"
    " sit_mat sitmat etamatri",
    rank=5,
)  # fmt: skip
BELIEF = Concept(
    "religion, opinion or belief", Role.SENSITIVE,
    "religi* belie* faith konfession* glaube* relig* politic* politi* party partei parti"
    " voted vote* wahl* union sexual* orientation sindicat* gewerkschaft* syndic* ideolog*"
    " left_right trust* opinion* attitude* wyznanie",
    unless="votes_count",
)  # fmt: skip
OUTCOME = Concept(
    "an outcome, a score or a judgement", Role.SENSITIVE,
    "outcome* ^class$ result* *result target label ^y$ ^g[123]$ response* churn* exited attrition"
    " default* surviv* death* died dead deceased mortality fatal* *readmi* *recid* *_recid"
    " relaps* no_show success* approv* reject* accepted dropout drop_out *score* *scor rating*"
    " *rating grade grades *_grade gpa note_* nota notas punteggio puntos puntaje punt wynik"
    " ocena ergebnis* resultat* resultado* risultato uitslag mark marks *satisf* zufried*"
    " satisf* voto voti performance engagement evaluation* bewert* assess* decile* percentile*"
    " overall potential credit_risk risk* prognos* wellbeing well_being happi* lifesat*"
    " quality_* stress* *incident_result subscribed gravite grav severity *_severity"
    " schweregrad",
    unless="date ^year$ ^year_of year$",
)  # fmt: skip
HEALTH = Concept(
    "health or behaviour", Role.SENSITIVE,
    "*diagnos* diag dx dg illness disease* *_disease condition* icd icd* symptom* treat*"
    " medic* medication* meds *med drug* *drug prescription* ndc gsn atc dose* dosage hiv aids"
    " *cancer*"
    " tumou?r* diabet* h[iy]pertens* alcohol* alkohol* alcool* tobacco smok* *smoker cig*"
    " rauch* tabac* fum* handi_?cap* asthma* stroke *stroke injur* depress* mental* suicid*"
    " infect* covid* vaccin* impf* allerg* surg* operation clinical* disab* behinder* pregnan*"
    " schwanger* embaraz* gravid* contracep* genetic* test_* *_test chd angina *_history"
    " health* *health gesundheit* sante salud saude salute gezondheid zdrowie krank* befund*"
    " maladie* enfermedad* doenca* malattia ziekte* choroba therap* procedure* pain schmerz*"
    " sleep* diet* exercise* physical_activity bpmeds prevalent* insulin metformin a1c*"
    " *glipiz* *cillin comorbid* *_in_hospital *_to_hospital complication* anaemia anemia thal"
    " fbs restecg exang"
    " oldpeak"
    " slope *_pain cp$ biops* malign* hospitalized adverse* toxic* drink* walc dalc caec calc"
    " fcvc faf scc favc mtrans vict* use_of_* abuse* addict* *involvement extrication"
    " ejection*",
    unless="insurance* center centre hospital_name unit",
)  # fmt: skip
CRIME = Concept(
    "crime or law", Role.SENSITIVE,
    "crime* criminal* convict* arrest* *offen[cs]e* charge_* c_charge* *_charge violen*"
    " *violent prior* priors* jail* prison* sentence* custody felon* misdemean* verdict*"
    " weapon* armed fraud* police_report* citation* straf* delit* delito* reato*",
    unless="date",
)  # fmt: skip
MONEY = Concept(
    "an amount of money", Role.SENSITIVE,
    "*income* *salary* *wage* wages earning* pay payment* *paid pay_* *amount* *_amt amt"
    " *_amnt charges *_charges"
    " *price* cost costs *cost balance* fee fees fare fares revenue* billing* *bill budget*"
    " tax taxes rent loan* *_loan credit* debt* debit* deposit* *limit mortgage* bankrupt*"
    " welfare scholarship benefit* capital* gain loss dividend* stock* sales spend* expens*"
    " total* value$ *value_eur *_eur *_usd *_gbp bonus installment* instalment* interest* dti"
    " fico* annual_inc* revol* collections* delinq* inq* open_acc"
    " pub_rec* total_acc hike einkommen *einkommen gehalt lohn kosten preis"
    " betrag umsatz miete schulden steuer* kredit* verdienst* salaire revenu* revenus montant"
    " prix cout loyer impot* remuneration dette ingreso* renta salario sueldo importe precio"
    " coste costo saldo deuda prestamo hipoteca rendimento* salario renda valor preco custo"
    " divida emprestimo reddito stipendio prezzo importo spesa inkomen *inkomen salaris loon"
    " bedrag prijs huur dochod* zarobki pensja kwota cena koszt kredyt dlug assets wealth"
    " vermoegen patrimonio poverty* indfmpir indfminc *finance* economic*",
    unless="date day month year type purpose hours years *_type",
)  # fmt: skip
COUNT = Concept(
    "a count", Role.SENSITIVE,
    "^n_* ^nb_* ^num_* ^nbr_* ^number_of* number_* ^no_of* no_of_* ^anzahl* *_anzahl *count"
    " *counts ^nombre_* ^numero_de* ^num_of* ^cantidad* ^liczba* ^aantal* ^total_* previous*"
    " visits *_visits *absences* absent* fehltage failures times_* frequency freq* inpatient"
    " outpatient emergency campaign",
    unless="id",
    only="number",
)  # fmt: skip
MEASURE = Concept(
    "a measurement", Role.SENSITIVE,
    "*weight* *gewicht* poids peso gewicht waga *birthwt height* *groesse taille altura"
    " estatura statura altezza lengte wzrost bmi* bmx* lbx* bpx* *bmi *pressure* *_bp bp sysbp"
    " diabp trestbps *chol* *glucose* hdl ldl trigly* hemoglob* haemoglob* creatin* albumin*"
    " bilirub* platelet* sodium potassium heart_rate pulse* thalach temp temperature* waist*"
    " circumference* *rate$ rate_* ratio* percent* pct* share* index_* mean avg* average*"
    " median std level_* *_level$ concentration *dose speed* velocity distance* dist_* depth*"
    " width* length* duration* dauer duree duracion durata duur *hours hours* *hrs hpw"
    " minutes* *_min time_in* length_stay length_of_stay los *_days$ days_* latency* *stay*"
    " size$ area_m* *_mm *_cm *_kg *_ms *_pct *_ratio v[0-9]* intelligence pace shooting"
    " passing dribbling defending physic attack* skill* commute* travel_time traveltime"
    " studytime freetime goout",
    unless="job *job* date education* *employ* school study_level grade_level",
    only="number",
)  # fmt: skip
EDUCATION = Concept(
    "education", Role.QUASI,
    "*educat* educ edu [mf]edu *educ school schools school_* *school degree* diploma*"
    " qualification* study"
    " studies field_of_study major dmdeduc* *education* bildung* *bildung abschluss*"
    " schulabschluss schule studium niveau_etude* etudes scolar* diplome* formation estudio*"
    " nivel_estudio* educacion escolaridad* educacao instrucao istruzione titolo_studio"
    " opleiding* onderwijs* wyksztalcenie university college enroll* grade_level",
    rank=7,
)  # fmt: skip
OCCUPATION = Concept(
    "an occupation", Role.QUASI,
    "occupation* *job *jobs *_job* job* profession* employ employed *employment* workclass"
    " class_worker class_of_worker"
    " work_type worker_class industry* occup* mjob fjob player_position* ^position$ labor* labour*"
    " title job_title beruf* taetigkeit* branche stellung erwerb* metier csp pcs emploi* poste"
    " profesion* ocupacion* empleo trabajo puesto situacion_laboral profissao ocupacao cargo"
    " emprego"
    " trabalho professione occupazione lavoro impiego beroep* functie werk zawod* praca stanowisko",
    unless="years years_* wage* length employer",
    rank=8,
)  # fmt: skip
EMPLOYER = Concept(
    "an employer or a unit of it", Role.QUASI,
    "employer* company department* dept division business_unit sector* team club rank army_rank"
    " military* veteran* arbeitgeber abteilung firma secteur entreprise empresa azienda"
    " bedrijf werkgever pracodawca",
    unless="years",
    rank=10,
)  # fmt: skip
PLACE = Concept(
    "a place", Role.QUASI,
    "city *_city town* village* country *_country *countries nation region* *_region state"
    " *_state state_* province county* counties district* borough* ward suburb* neighbo*hood*"
    " municip* parish* communit* tract zip zip_* *_zip zipcode* postcode* post_code* postal*"
    " plz *plz postleitzahl ort *wohnort wohn* stadt stadtteil bundesland landkreis kreis"
    " gemeinde bezirk land ville commune departement *_departement dep dept_resid* pays"
    " code_postal codepostal cp_resid* quartier lieu* agglo* com insee* ciudad poblacion pais"
    " provincia* municipio* barrio* localidad comunidad* cidade* bairro* estado uf concelho"
    " freguesia distrito* citta comune provincia regione paese cap residenza quartiere stad"
    " gemeente* provincie woonplaats wijk buurt miasto* gmina* powiat* wojewodztw* kraj*"
    " kod_pocztowy dzielnica precinct beat zone zona area location* residen*"
    " place_of* place_name locality"
    " site continent territor* lga census_block* block fips *fips geo* urban* rural* metro*"
    " msa hometown hospital station stop embarked embark* port destination* homeplanet beat"
    " department_code",
    unless="dept satisf* medical police",
    rank=3,
)  # fmt: skip
DEGREES = Concept(
    "a position", Role.QUASI,
    "lat lon lng long *_lat *_lon *_lng *_long lat_deg* lon_deg* latitude* longitude*"
    " *latitude *longitude latitud longitud breitengrad laengengrad",
    only="number", rank=8,
)  # fmt: skip
PLANE = Concept(
    "a position", Role.QUASI,
    "*easting* *northing* utm_[xy] geo_[xy] coord*_[xy] [xy]_coord* xcoord ycoord",
    only="number", rank=8,
)  # fmt: skip
EVENT_DATE = Concept(
    "the date of an event", Role.QUASI,
    "*date* *datum *datum_* fecha* *fecha data data_* *_data$ dat_* year *_year$ year_* yr"
    " jahr *jahr annee* an an_* ano anno jaar rok month months *_month$ month_* monat* mois"
    " mes mese maand miesiac"
    " day day_* jour tag dia giorno dag dzien week* woche semaine *weekday quarter admission*"
    " discharge* admit* visit* arrival* departure season when hour* heure hora uhrzeit time"
    " *_time$ hrmn hora* datetime opened closed *_at$ *_on$",
    unless="over overtime type source disposition reason count n* *_id",
    rank=6,
)  # fmt: skip
MEMBERSHIP = Concept(
    "a membership, a language or a plan", Role.QUASI,
    "member* mitgliedschaft membership* club_name insurance* insurer payer* versicherung*"
    " krankenkasse language* *language sprache langue lengua idioma lingua taal jezyk"
    " *nationality_team league* contract* vertrag* plan subscription* tenant owner*"
    " home_owner* *ownership own_home housing* tenure_type homeowner*",
    rank=11,
)  # fmt: skip
TENURE = Concept(
    "years or a level in a career", Role.QUASI,
    "years_* *years$ *years_* tenure seniority* emp_length job_level joblevel experience*"
    " *experience*"
    " dienstjahre berufserfahrung betriebszugehoerigkeit anciennete antiguedad antiguidade"
    " anzianita staz",
    unless="date smok*",
    rank=12,
)  # fmt: skip
TECHNICAL = Concept(
    "how the record was kept", Advice.LEAVE_OUT,
    "created* updated* modified* *_modified inserted* loaded* export* import* timestamp*"
    " file* filename* version* url unnamed* batch* run wave source_file script* image* photo*"
    " logo* flag_url face_url etl* checksum md5",
)  # fmt: skip
KIND = Concept(
    "a category", Advice.DECIDE,
    "*type* kind class *_class category *status* source disposition level group segment tier"
    " reason mode flag role art typ tipo categoria classe groupe grupo gruppo kategorie stan"
    " statut estado situation purpose channel method *code*",
)  # fmt: skip

CONCEPTS = (  # the first that fits decides
    WEIGHT, FREE_TEXT, CONTACT, PERSON_NAME, PERSON_NUMBER, NUMBER, BIRTH, ORIGIN, SEX, AGE,
    HOUSEHOLD, MARITAL, OUTCOME, BELIEF, CRIME, HEALTH, MONEY, TECHNICAL, TENURE, EDUCATION,
    OCCUPATION, EMPLOYER, MEMBERSHIP, DEGREES, PLANE, PLACE, COUNT, MEASURE, EVENT_DATE, KIND,
)  # fmt: skip
_AXES = ({"x", "y"}, {"x_axis", "y_axis"}, {"pos_x", "pos_y"})


def concepts_of(name: str, others: Collection[str] = ()) -> list[Concept]:
    """Return the concepts that a name may mean, the likeliest first.

    Parameters:
        name: The name of a column.
        others: The names of all columns; x is a coordinate if there is a y.

    >>> [concept.what for concept in concepts_of("Geburtsdatum")][0]
    'a date or year of birth'
    """
    folded = folded_name(name)
    found = [concept for concept in CONCEPTS if concept.fits(folded)]
    names = {folded_name(other) for other in others}
    if any(folded in pair and pair <= names for pair in _AXES):
        found.insert(0, PLANE)
    return found


def means(name: str, *concepts: Concept) -> bool:
    """Return whether a name means one of these concepts in the first place."""
    return next((each in concepts for each in concepts_of(name)), False)
