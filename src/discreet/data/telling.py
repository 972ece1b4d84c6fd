"""What columns are called: the words that tell counts, identifiers, weights and the like."""

from __future__ import annotations

import re

from discreet.data.totals import words

COUNTS = words(
    """n count counts cnt freq freqs frequency frequencies _freq _freq_ n_break n_obs nobs tally len
    count(*) count(1) count_star() cell_count cellcount obs_value anzahl anz häufigkeit haeufigkeit
    häuf haeuf frequenz fallzahl effectif effectifs nbre fréquence fréq frecuencia frec conteo cant
    cantidad frequenza conteggio frequência contagem qtd qtde quantidade aantal antal antall ant
    frekvens frekv hyppighed lukumäärä lukumaara lkm fjöldi fjoldi liczba liczebność ilość počet
    pocet četnost cetnost početnosť szám darab gyakoriság število stevilo frekvenca broj učestalost
    brojnost număr frecvență skaičius skaits arv sagedus sayı sayi adet frekans αριθμός πλήθος
    συχνότητα число количество кол-во частота брой кількість 人数 件数 度数 頻度 数量 计数 频数
    人數 計數 빈도 인원 인원수 مجموع عدد تعداد מספר"""
)
# what a column of people can be called too: counts if no other column has numbers
PERHAPS = words(
    """0 value values number num cases case_count persons people population pop size total sum obs
    wert fälle faelle personen einwohner nombre valeur personnes número numero casos personas
    valore persone personer valor pessoas nb nbr num_cases n_cases num_persons n_persons n_people
    number_of_persons number_of_people number_of_cases no_of_persons no_of_cases ant_pers
    ant_personer antall_personer antal_personer anz_pers anzahl_personen nb_pers nb_personnes db ks
    szt kpl"""
)
IDENTIFIERS = words(
    """id ids uid uuid guid pid rid pin ssn sin nino cpr bsn ahv curp rut dni nif cpf passport
    serial seqn seqno seq rowid rownum rowname rownames index idx unnamed record recordid
    recordno respondent respondentid respid caseid caseno personid personno person userid user
    subject subjectid participant participantid patient patientid patientno identifier ident
    kennung lfdnr lfd laufnummer personennummer personalnummer personnummer identifiant
    matricule identificador matricola steuerid taxid nhs"""
)
PEOPLE = words(
    """name names surname lastname firstname forename fullname nachname vorname nom prenom prénom
    apellido apellidos cognome nome email mail phone telephone tel mobile handy telefon address
    adresse street strasse straße iban"""
)
HOUSEHOLDS = words(
    """hh hhid hhno hhnr hhnum hid hhold hhidp household householdid households haushalt
    haushaltsnr haushaltsnummer haushaltsid home homeid dwelling dwellingid family familyid
    famid famille menage ménage foyer hogar hogarid famiglia huishouden hushåll"""
)
NO_NUMBER = words(
    """size type typ kind income einkommen größe groesse members persons people status head
    relation composition class tenure owner ownership rooms cars"""
)
WEIGHTS = words(
    """weight weights weighting wgt wgts wt wts w pw fw aw pweight fweight aweight iweight pwgt
    pwgtp wgtp perwt hhwt fwt fnlwgt finalwt finalwgt finalweight wtfinl wtper hochrechnung
    hochrechnungsfaktor hrf gewicht gewichte gewichtung gewichtungsfaktor poids pondération
    ponderation pondérateur peso ponderador ponderacion factor_exp fexp vikt vekt vægt gewichten"""
)
REMARKS = words(
    """comment comments remark remarks note notes text freetext verbatim description bemerkung
    bemerkungen kommentar anmerkung notiz commentaire remarque comentario observaciones nota
    reason"""
)
IDENTIFYING = words(
    """sex gender geschlecht sexe age alter edad race ethnic ethnicity origin birth born birthday
    nationality citizenship marital married region county state town city village municipality
    gemeinde kreis land zip zipcode postcode postal plz area tract occupation job profession
    beruf education bildung school language children household country year religion"""
)
SENSITIVE = words(
    """income wage wages salary earnings einkommen lohn wealth estate debt tax benefit benefits ill
    illness disease diagnosis health hiv aids cancer disability disabled drug drugs alcohol
    abortion crime offence conviction victim religion party vote politics sexual orientation
    depression treatment therapy cause death suicide welfare poverty pregnant smoke smoking
    blood pressure"""
)


def tokens(name: str) -> set[str]:
    """The words of a column's name, and the name as one word.

    >>> sorted(tokens("householdId")), sorted(tokens("Unnamed: 0"))
    (['household', 'householdid', 'id'], ['unnamed', 'unnamed0'])
    """
    parts = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name.strip())
    found = {part for part in re.split(r"[\W\d_]+", parts.casefold()) if part}
    return found | {re.sub(r"[\W_]+", "", name.casefold())}
