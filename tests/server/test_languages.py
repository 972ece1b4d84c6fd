"""The public's pages in every language: nothing is left in English by oversight."""

import re

import pytest
from babel.messages.pofile import read_po

from discreet.decision.law.policy import Policy
from discreet.server.pages import words
from discreet.server.showing.languages import LANGUAGES, computed, speaking
from server.described import open_described
from server.messages import FOLDER, every, strings
from server.sites import MYOPIC, world
from server.test_pages import HTML, Page

OTHERS = [language for language in LANGUAGES if language != "en"]
FIELD = re.compile(r"%\(\w+\)s|\{\w+\}")
PAGES = {
    "/": "Datensätze",
    "/search?q=town": "Treffer",
    "/api": "Die Schnittstelle für Programme",
    "/d/people": "Welche Variablen?",
    "/d/people?v=Town&v=Sex&v=Age": "Veröffentlicht",
    "/d/people/about": "Wie Menschen geschützt werden",
    "/d/people/t/Town*Sex*Age": "Tabelle anordnen",
    "/d/people/t/Town*Sex?where=Age:18 to 39&show=row": "wenn Age group = 18 to 39",
    "/d/nope": "Hier ist nichts",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    changes = MYOPIC | {"attribute.check": False, "published.least": 0}
    with world(folder) as made:
        out = [["Town", "Sex", "Age"]]
        open_described(made.site.counter, folder, Policy.of(changes), out=out)
        yield made


@pytest.fixture
def client(site):
    return site.client()


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_the_public_pages_is_there(language):
    """Of templates, marked texts and computed sentences; and none that nobody says."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    wanted = every()
    there = {m.id: m for m in catalogue if m.id}
    missing = [text for text in wanted if text not in there or not all(strings(there[text]))]
    assert not missing, "run `python -m server.messages` in tests/, and say these in the language"
    assert set(there) == set(wanted)


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_keeps_its_fields(language):
    with (FOLDER / f"{language}.po").open("rb") as file:
        for message in read_po(file, locale=language):
            ids = message.id if isinstance(message.id, tuple) else (message.id,)
            for text, said in zip(ids, strings(message), strict=True):
                assert sorted(FIELD.findall(said)) == sorted(FIELD.findall(text)) or not text, text
                assert said.count("<") == text.count("<") or not text, text


@pytest.mark.parametrize(("path", "said"), PAGES.items())
def test_a_page_in_german(client, path, said):
    headers = HTML | {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
    answer = client.get(path, headers=headers)
    assert Page(answer.text).all("html")[0]["lang"] == "de"
    assert said in answer.text
    assert answer.headers["content-language"] == "de"
    assert "accept-language" in answer.headers["vary"].lower()
    assert "set-cookie" not in answer.headers
    for word in (">Data sets<", ">Search<", "Skip to", "Readers are"):
        assert word not in answer.text.partition('<div lang="en">')[0]


def test_a_choice_is_kept(site):
    client = site.client()
    chosen = client.get("/?lang=de", headers=HTML)
    assert "Datensätze" in chosen.text
    cookie = chosen.headers["set-cookie"]
    assert cookie.startswith("lang=de;")
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()
    assert "Datensätze" in client.get("/", headers=HTML | {"Accept-Language": "en"}).text
    assert "Data sets" in client.get("/?lang=en", headers=HTML).text
    assert "Data sets" in client.get("/", headers=HTML | {"Accept-Language": "de"}).text


@pytest.mark.parametrize("odd", ["xx", "", "de'", "../de", "DE"])
def test_a_language_that_is_not_there_is_not_kept(site, odd):
    answer = site.client().get("/", params={"lang": odd}, headers=HTML)
    assert "Data sets" in answer.text
    assert "set-cookie" not in answer.headers


def test_the_other_language_is_one_click_away(site):
    client = site.client()
    page = client.get("/d/people/t/Town*Sex?where=Age:18%20to%2039&show=row", headers=HTML).text
    (link,) = [a["href"] for a in Page(page).all("a") if a.get("hreflang") == "de"]
    other = client.get(link, headers=HTML)
    assert other.status_code == 200
    assert "Anteil an der Zeile" in other.text
    assert "wenn Age group = 18 to 39" in other.text


def test_numbers_and_days_are_written_as_the_language_does(client, site):
    total = site.site.catalogue.published("people", ["Town"]).total
    page = client.get("/d/people/t/Town?lang=de", headers=HTML).text
    assert f"{total:,}".replace(",", ".") + " insgesamt" in page
    assert re.search(r"veröffentlicht am \d+\. \w+ 20\d\d", page)
    assert "100\xa0%" in page


def test_staff_pages_and_the_api_stay_english(site):
    german = {"Accept-Language": "de"}
    desk = site.client("custodian").get("/desk", headers=HTML | german)
    assert Page(desk.text).all("html")[0]["lang"] == "en"
    assert ">Data sets<" in desk.text
    found = site.client().get("/api/v1/datasets/people/status?variables=Town", headers=german)
    assert found.json()["message"].endswith("The table is published, or follows from one that is.")


def test_the_status_can_be_told_in_german(client):
    """The picker shows it without loading the page anew."""
    path = "/api/v1/datasets/people/status?variables=Town&lang="
    assert (
        client.get(f"{path}de")
        .json()["message"]
        .endswith("ergibt sich aus einer veröffentlichten.")
    )
    assert client.get(f"{path}en").json()["why"] == "out"
    assert client.get(f"{path}fr").status_code == 422


def test_a_sentence_that_is_not_there_is_marked_as_english():
    with speaking("de"):
        assert words.term("A rule of <another> package.") == (
            '<span lang="en">A rule of &lt;another&gt; package.</span>'
        )
        assert computed("At least 12,000 tables must fit all that is out.") == (
            "Mindestens 12.000 Tabellen müssen zu allem Veröffentlichten passen."
        )
    assert words.term("A rule of <another> package.") == "A rule of &lt;another&gt; package."
