"""A table as its reader wants it: rows, columns, shares, parts, maps, codings, citations."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.pages.grid import grid
from discreet.server.pages.layout import Show, laid_out
from discreet.server.pages.maps import draw_map
from discreet.server.showing.codings import other_codings
from discreet.table.table import Table
from server.described import AGES, TOWNS, open_described
from server.sites import MYOPIC, world
from server.test_pages import HTML, Page, check

OUT = (["Town", "Sex", "Age"], ["Region", "Sex", "Age"])
PEOPLE = MYOPIC | {"attribute.check": False, "published.least": 0}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    with world(folder, title="Office of Statistics", address="https://tables.example") as made:
        made.table = open_described(made.site.counter, folder, Policy.of(PEOPLE), out=OUT)
        yield made


@pytest.fixture
def get(site):
    client = site.client()

    def ask(path, status=200):
        answer = client.get(path, headers=HTML)
        assert answer.status_code == status, answer.text[:2_000]
        return answer

    return ask


@pytest.fixture
def published(site):
    return site.site.catalogue.published("people", ["Town", "Sex", "Age"])


def shown(html):
    """The cells of the table, as they are written, row by row; then the foot."""
    body = html[html.index('<table class="counts') : html.index("</table>")]
    rows = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return [[unescape(cell) for cell in row] for row in cells if row]


@pytest.mark.parametrize("columns", [["Age"], ["Sex", "Age"], ["Age", "Sex"], [], ["Town", "Age"]])
def test_every_cell_stands_under_its_categories(published, columns):
    """Counts, by the labels of row and column, are those of the table."""
    layout = laid_out(published, [n for n in published.names if n not in columns], columns)
    laid = grid(published, 1, layout)
    assert (laid.beside, laid.above) == (layout.rows, layout.columns)
    seen = 0
    for row in laid.rows:
        for (labels, _), n in zip(laid.columns, row.counts, strict=True):
            at = dict(zip((*laid.beside, *laid.above), (*row.labels, *labels), strict=True))
            place = tuple(
                published.categories[i].index(at[name]) for i, name in enumerate(published.names)
            )
            assert n == published.counts[place]
            seen += 1
    assert seen == published.counts.size
    assert laid.total == published.total


def test_heads_of_several_levels_span_their_columns(published):
    laid = grid(published, 1, laid_out(published, ["Town"], ["Sex", "Age"]))
    assert [[head.span for head in level] for level in laid.heads] == [[4, 4], [1] * 8]
    for labels, ids in laid.columns:
        heads = {head.id: head.text for level in laid.heads for head in level}
        assert tuple(heads[id] for id in ids) == labels


@pytest.mark.parametrize("show", list(Show))
def test_shares_are_of_what_they_say(published, show):
    laid = grid(published, 1, laid_out(published, ["Town", "Sex"], ["Age"], show))
    counts = published.counts.reshape(8, 4)
    whole = {
        Show.COUNTS: np.ones_like(counts),
        Show.ROW: counts.sum(1, keepdims=True),
        Show.COLUMN: counts.sum(0, keepdims=True),
        Show.TOTAL: counts.sum(),
    }[show]
    found = [[laid.value(row, column) for column in range(4)] for row in laid.rows]
    assert np.allclose(found, counts / whole)
    if show is Show.ROW:
        assert [laid.value_of_row(row) for row in laid.rows] == [1] * 8
    if show is Show.COLUMN:
        assert [laid.value_of_column(column) for column in range(4)] == [1] * 4


def test_a_page_in_every_layout(get):
    for query in (
        "",
        "?rows=Age&rows=Town&cols=Sex",
        "?cols=Sex&cols=Age&show=row",
        "?rows=Town&rows=Sex&rows=Age&show=total",
        "?cols=Town&show=column&totals=no",
        "?level=Age:1",
        "?where=Sex:male&show=total",
    ):
        names = "Town*Age" if "where" in query else "Town*Sex*Age"
        check(get(f"/d/people/t/{names}{query}"))


def test_totals_can_be_left_out(get, published):
    with_them = shown(get("/d/people/t/Town*Sex*Age").text)
    without = shown(get("/d/people/t/Town*Sex*Age?totals=no").text)
    assert [row[:-1] for row in with_them[:-1]] == without
    assert with_them[-1][-1] == f"{published.total:,}"


def test_shares_are_written_as_percent(get):
    rows = shown(get("/d/people/t/Sex*Age?show=row").text)
    assert all(cell.endswith("%") for row in rows for cell in row)
    assert [row[-1] for row in rows] == ["100%"] * 3


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("rows=Income", "'Income' is no variable of this table; it has Town, Sex, Age"),
        ("rows=Sex&cols=Sex", "'Sex' can stand in one place only"),
        ("show=most", "show:"),
        ("level=Sex:1", "Sex has no level 1; its categories cannot be merged"),
        ("level=Age:2", "Age has no level 2; it has 1 to 1"),
        ("level=Age:00002", "Age has no level 2; it has 1 to 1"),
        ("level=Age", "level = 'Age' must be VARIABLE:NUMBER"),
        ("level=Age:1&level=Age:1", "level names Age twice"),
        ("is=Town:Ash&is=Sex:male&is=Age:0 to 17", "leave at least one variable whole"),
    ],
)
def test_what_cannot_be_laid_out_is_said(get, query, message):
    answer = get(f"/d/people/t/Town*Sex*Age?{query}", 422)
    assert message.lower() in unescape(answer.text).lower()
    check(answer)


def test_too_many_columns_are_not_shown(published):
    wide = published.picked({"Age": list(range(4)) * 20})
    with pytest.raises(DisclosureError, match=r"160 columns; 120 are shown at most"):
        laid_out(wide, ["Town"], ["Sex", "Age"])


def form(order, **more):
    pairs = [("order", name) for name in order]
    pairs += [(key, value) for key, values in more.items() for value in values]
    return "&".join(f"{key}={value}" for key, value in pairs)


@pytest.mark.parametrize(
    ("sent", "address"),
    [
        (
            form(["Town", "Sex", "Age"], at=["rows:Town", "rows:Sex", "cols:Age"], totals=["yes"]),
            "/d/people/t/Town*Sex*Age",
        ),
        (
            form(["Town", "Sex", "Age"], at=["rows:Town", "cols:Sex", "cols:Age"], totals=["yes"]),
            "/d/people/t/Town*Sex*Age?rows=Town&cols=Sex&cols=Age",
        ),
        (
            form(
                ["Town", "Sex", "Age"],
                at=["rows:Town", "rows:Sex", "cols:Age"],
                up=["Sex"],
                totals=["yes"],
            ),
            "/d/people/t/Town*Sex*Age?rows=Sex&rows=Town&cols=Age",
        ),
        (
            form(
                ["Town", "Sex", "Age"],
                at=["rows:Town", "rows:Sex", "cols:Age"],
                show=["row"],
                level=["Age:1"],
                **{"is": ["", "Sex:male", ""]},
            ),
            "/d/people/t/Town*Age?where=Sex%3Amale&level=Age%3A1&show=row&totals=no",
        ),
    ],
)
def test_the_form_leads_to_the_address_of_what_was_meant(site, sent, address):
    answer = site.client().get(f"/d/people/t/Town*Sex*Age?{sent}", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, address)


def test_merged_categories_are_sums(get, published):
    rows = shown(get("/d/people/t/Town*Age?level=Age:1").text)
    by_town = published.counts.sum(1)
    young, old = by_town[:, :2].sum(1), by_town[:, 2:].sum(1)
    expected = [[f"{n:,}" for n in (a, b, a + b)] for a, b in zip(young, old, strict=True)]
    assert rows[:-1] == expected


def test_a_download_is_what_the_page_shows(site, get):
    page = get("/d/people/t/Town*Age?level=Age:1&where=Sex:male").text
    (link,) = re.findall(r'href="([^"]*format=csv[^"]*)"', page)
    lines = site.client().get(unescape(link)).text.splitlines()
    assert lines[0] == "Town,Age,count"
    assert {line.split(",")[1] for line in lines[1:]} == {"under 40", "40 and over"}


# Words


def test_descriptions_are_on_the_pages(get):
    for path in ("/d/people", "/d/people/about", "/d/people/t/Town*Sex"):
        page = get(path)
        check(page)
        assert "Residents of four towns" in page.text
        assert "Counted &lt;once&gt;." in page.text
        assert "CC BY 4.0" in page.text
    assert "Town of residence by Sex" in get("/d/people/t/Town*Sex").text
    assert "Where somebody spends most nights." in get("/d/people/t/Town*Sex").text
    assert "Where somebody spends most nights." not in get("/d/people/t/Sex").text


def test_descriptions_are_in_the_api(site):
    client = site.client()
    data = client.get("/api/v1/datasets/people").json()
    assert data["about"]["notes"] == ["Counted <once>."]
    town, region, _, age = data["variables"]
    assert (town["title"], town["within"]) == ("Town of residence", "Region")
    assert (region["title"], region["within"]) == ("Region", None)
    assert age["levels"] == [["under 40", "under 40", "40 and over", "40 and over"]]
    table = client.get("/api/v1/datasets/people/tables/Age?level=Age:1").json()
    assert table["variables"][0]["categories"] == ["under 40", "40 and over"]
    assert (table["variables"][0]["level"], table["variables"][0]["unit"]) == (1, "years")


# Maps


def tones(page):
    return {
        told.partition(":")[0]: (int(tone), told.partition(": ")[2])
        for tone, told in re.findall(r'class="area tone(\d)".*?<title>(.*?)</title>', page)
    }


def test_a_map_of_counts(get, published):
    page = get("/d/people/t/Town*Sex*Age").text
    found, by_town = tones(page), published.counts.sum((1, 2))
    assert {town: said for town, (_, said) in found.items()} == {
        town: f"{n:,}" for town, n in zip(TOWNS[:3], by_town, strict=False)
    }
    ranked = sorted(found, key=lambda town: found[town][0])
    assert ranked == [t for _, t in sorted(zip(by_town[:3], TOWNS[:3], strict=True))]
    assert "Not on the map: Dogwood" in page


def test_a_map_of_shares(get, published):
    page = get("/d/people/t/Town*Sex*Age?of=Sex:male").text
    shares = published.counts[:, 1].sum(1) / published.counts.sum((1, 2))
    for town, share in zip(TOWNS[:3], shares, strict=False):
        assert tones(page)[town][1] == f"{share:.1%}"


def test_where_there_are_no_areas_there_is_no_map(get):
    assert 'id="map"' not in get("/d/people/t/Sex*Age").text
    assert 'id="map"' in get("/d/people/t/Town").text
    assert "area tone" in get("/d/people/t/Town*Age?of=nonsense:x").text


def test_an_area_without_people_has_no_share(published):
    counts = published.counts.copy()
    counts[0] = 0
    drawn = draw_map(replace(published, counts=counts), "Town", ("Sex", "male"), title="t")
    assert "Ash: nobody" in drawn.drawn


# Codings


def test_other_codings_that_are_out(get, site):
    page = get("/d/people/t/Town*Sex*Age").text
    assert '<a href="/d/people/t/Region*Sex*Age">Region by Sex by Age group</a>' in page
    assert "Region is coarser than Town of residence" in page
    other = get("/d/people/t/Region*Age").text
    assert '<a href="/d/people/t/Town*Age">' in other
    assert "Town of residence is finer than Region" in other
    data = site.site.catalogue.dataset("people")
    assert other_codings(data, [("Town", "Sex")], ["Town", "Sex"]) == []
    assert other_codings(data, [("Town", "Region")], ["Town", "Region"]) == []


# Permanent addresses


def test_an_entry_shows_its_table_for_good(get, site):
    page = get("/d/people/t/Town*Sex*Age")
    (address,) = re.findall(r'<span class="address">https://tables.example(.*?)</span>', page.text)
    again = get(address)
    check(again)
    assert shown(again.text) == shown(page.text)
    part = get("/d/people/t/Town?where=Sex:male")
    (address,) = re.findall(r'<span class="address">https://tables.example(.*?)</span>', part.text)
    assert "v=Town" in address
    assert shown(get(unescape(address)).text) == shown(part.text)


def test_the_api_has_the_same_entry(site):
    client = site.client()
    table = client.get("/api/v1/datasets/people/tables/Age?where=Sex:male&level=Age:1").json()
    address = table["source"]["address"].removeprefix("https://tables.example")
    assert "/entries/" in address
    assert client.get(address).json() == table


def test_an_entry_that_published_nothing(get, site):
    known = site.site.counter.request("people", ["Town", "Sex"])  # is out already
    for number in (1, known.number, 999):
        assert "published no table" in get(f"/d/people/e/{number}", 404).text
    get(f"/d/people/e/{2**40}", 422)
    wrong = site.client().get("/api/v1/datasets/people/entries/1")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, "not_published")


def test_an_entry_holds_no_more_than_it_published(get, site):
    number = site.site.catalogue.published("people", ["Town", "Sex", "Age"]).entry
    get(f"/d/people/e/{number}?v=Region", 404)


def test_a_withdrawn_entry_says_why(tmp_path):
    with world(tmp_path) as made:
        open_described(made.site.counter, tmp_path, Policy.of(PEOPLE), out=[["Town", "Sex"]])
        client = made.client()
        number = made.site.catalogue.published("people", ["Town", "Sex"]).entry
        made.site.counter.withdraw("people", ["Town", "Sex"], "1", "a coding error")
        page = client.get(f"/d/people/e/{number}", headers=HTML)
        assert page.status_code == 410
        assert "A coding error." in page.text
        found = client.get(f"/api/v1/datasets/people/entries/{number}")
        assert (found.status_code, found.json()["error"]["code"]) == (410, "withdrawn")
        cite = client.get(f"/api/v1/datasets/people/entries/{number}/citation")
        assert cite.status_code == 410
        town = client.get("/api/v1/datasets/people/tables/Town")  # it is out by itself
        assert town.status_code == 200


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("text", "Office of Statistics: People"), ("bibtex", "@misc{"), ("ris", "TY")],
)
def test_citations_can_be_had_as_files(site, get, kind, begins):
    page = get("/d/people/t/Town*Age?where=Sex:female").text
    (link,) = re.findall(rf'href="([^"]*/citation[^"]*format={kind})"', page)
    answer = site.client().get(unescape(link))
    assert answer.text.startswith(begins)
    assert "attachment" in answer.headers["content-disposition"]
    assert "where=Sex%3Afemale" in answer.text


def test_every_page_of_a_long_table(tmp_path):
    """A layout goes from page to page."""
    with world(tmp_path, address="https://tables.example") as made:
        table = Table.of(np.full((150, 2), 50), Street=range(150), Sex=["f", "m"])
        made.site.counter.open(table, Policy.of(PEOPLE), slug="streets")
        made.site.counter.request("streets", ["Street", "Sex"])
        client = made.client()
        page = client.get("/d/streets/t/Street*Sex?show=row", headers=HTML)
        check(page)
        assert "rows 1 to 60 of 150" in page.text
        (following,) = re.findall(r'rel="next" href="([^"]+)"', page.text)
        second = client.get(unescape(following), headers=HTML)
        assert "rows 61 to 120 of 150" in second.text
        assert "show=row" in unescape(following)
        assert "Share of the row" in second.text


def test_names_with_odd_characters(tmp_path):
    odd = ["a*b/c", 'x"<y>', "ünïcode & more"]
    with world(tmp_path, address="https://tables.example") as made:
        table = Table.of(np.full((2, 2, 2), 60), **{name: ["=1", "2:3"] for name in odd})
        made.site.counter.open(table, Policy.of(PEOPLE), slug="odd")
        assert made.site.counter.request("odd", odd[:2]).outcome == "granted"
        client = made.client()
        home = client.get("/d/odd", headers=HTML)
        links = [a["href"] for a in Page(home.text).all("a") if "/t/" in a.get("href", "")]
        assert len(links) == 2
        for link in links:
            page = client.get(link, headers=HTML)
            check(page)
            for a in Page(page.text).all("a"):
                if a["href"].startswith(("/d/", "/api/v1/")) and "hreflang" not in a:
                    assert client.get(a["href"], headers=HTML).status_code == 200, a["href"]


def test_ages_are_in_order(get):
    page = get("/d/people/t/Age").text
    places = [page.index(f">{age}<") for age in AGES]
    assert places == sorted(places)
