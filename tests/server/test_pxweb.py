"""Clients of PxWeb, as they are, read what is out: pyaxis, pxwebpy and pxstatspy over a socket."""

import io
import json
import shutil
import subprocess

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest
from pxstatspy import OutputFormat, PxAPI, PxAPIConfig
from pxweb import PxApi
from pyjstat import pyjstat

from discreet.decision.law.policy import Policy
from discreet.table.table import Table
from server.described import AGES, TOWNS, open_described
from server.loopback import quiet_import, serving
from server.sites import MYOPIC, world

PEOPLE = MYOPIC | {"attribute.check": False, "published.least": 0}
ID = "people.Town.Sex.Age"
V1 = "/pxweb/api/v1/en"
pyaxis = quiet_import()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pxweb")
    with world(folder, title="Office of Statistics") as made:
        out = [["Town", "Sex", "Age"], ["Region", "Age"]]
        open_described(made.site.counter, folder, Policy.of(PEOPLE), out=out)
        made.open("tract", PEOPLE)
        yield made


@pytest.fixture(scope="module")
def address(site):
    with serving(site) as found:
        yield found


@pytest.fixture(scope="module")
def published(site):
    return site.site.catalogue.published("people", ["Town", "Sex", "Age"])


def get(site, path, status=200, **params):
    answer = site.client().get(path, **{"params": params} if params else {})
    assert answer.status_code == status, answer.text
    return answer


# Clients


def test_pyaxis_reads_a_px_file(address, published):
    found = pyaxis.parse(
        f"{address}/api/v1/datasets/people/tables/Town*Sex*Age?format=px", encoding="utf-8"
    )
    frame = found["DATA"]
    assert list(frame.columns) == ["Town of residence", "Sex", "Age group", "DATA"]
    assert frame["DATA"].astype(int).tolist() == published.counts.ravel().tolist()
    assert frame["Town of residence"].unique().tolist() == list(TOWNS)
    assert found["METADATA"]["CONTACT"] == ["statistics@example.org"]


def test_pyaxis_reads_from_the_data_path(address, published):
    path = "data?outputFormat=px&valueCodes[Town]=*&valueCodes[Sex]=female"
    found = pyaxis.parse(f"{address}/api/v2/tables/{ID}/{path}", encoding="utf-8")["DATA"]
    assert found["DATA"].astype(int).tolist() == published.counts[:, 0].sum(1).tolist()


def test_pxwebpy_finds_and_reads(address, published):
    api = PxApi(f"{address}/api/v2")
    assert api.number_of_tables == len(api.all_tables())
    assert ID in [table["id"] for table in api.all_tables()]
    assert api.search("town female")["tables"][0]["id"] == ID
    variables = api.get_table_variables(ID)
    assert list(variables) == ["Town", "Sex", "Age", "ContentsCode"]
    assert variables["Age"]["category"]["label"]["65_and_over"] == "65 and over"
    rows = api.get_table_data_all(ID)
    assert [row["value"] for row in rows] == published.counts.ravel().tolist()
    assert rows[0]["Town of residence"] == "Ash"


def test_pxwebpy_selects_and_sums(address, published):
    api = PxApi(f"{address}/api/v2")
    rows = api.get_table_data(ID, {"Town": ["Ash", "C*"], "Age": "*"})
    wanted = published.counts[[0, 2]].sum(1)
    assert [row["value"] for row in rows] == wanted.ravel().tolist()
    assert [row["Age group"] for row in rows[:4]] == list(AGES)


def test_pxwebpy_reads_a_coarser_coding(address, published):
    api = PxApi(f"{address}/api/v2")
    (coarse,) = api.get_table_variables(ID)["Age"]["codelists"]
    groups = api.get_code_list(coarse["id"])["values"]
    assert [(g["label"], g["valueMap"]) for g in groups] == [
        ("under 40", ["0_to_17", "18_to_39"]),
        ("40 and over", ["40_to_64", "65_and_over"]),
    ]
    rows = api.get_table_data(ID, {"Age": "*"}, {"Age": coarse["id"]})
    by_age = published.counts.sum((0, 1))
    assert [row["value"] for row in rows] == [by_age[:2].sum(), by_age[2:].sum()]


def test_pxwebpy_asks_in_parts_what_is_too_large(address, published, monkeypatch):
    api = PxApi(f"{address}/api/v2", disable_cache=True)
    monkeypatch.setitem(api._client.configuration, "maxDataCells", 6)
    rows = api.get_table_data_all(ID)
    assert sorted(row["value"] for row in rows) == sorted(published.counts.ravel().tolist())


def test_pxstatspy_reads_by_address(address, published, capsys):
    api = PxAPI(PxAPIConfig(f"{address}/api/v2"))
    listed = api.find_tables(display=False)
    assert {"people.Region.Age", ID} <= {table["id"] for table in listed["tables"]}
    assert api.find_tables() is None
    wanted = {"Town": ["TOP(2)"], "Sex": ["*"], "ContentsCode": ["*"]}
    frame = api.get_data_as_dataframe(ID, wanted)
    assert frame["Number"].tolist() == published.counts[:2].sum(2).ravel().tolist()
    text = api.get_table_data(ID, {"Sex": ["*"]}, output_format=OutputFormat.CSV)
    assert text.splitlines()[0] == '"Sex","Number"'
    assert api.get_table_by_id(ID)["variableNames"][0] == "Town of residence"


R = """
library(pxweb)
url <- "{address}/pxweb/api/v1/en/people/Town.Sex.Age"
stopifnot(length(pxweb_get("{address}/pxweb/api/v1/en/people")) > 1)
found <- pxweb_get_data(url, query = list(Town = "*", Sex = c("male")))
cat(names(found), found[["Number"]], sep = "\\n")
"""


def test_rs_pxweb_reads(address, published):
    """Where R has it: `install.packages("pxweb")`."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("there is no R")
    look = subprocess.run([program, "-e", "library(pxweb)"], capture_output=True, check=False)
    if look.returncode:
        pytest.skip("R has no package pxweb")
    said = [program, "-e", R.format(address=address)]
    made = subprocess.run(said, capture_output=True, text=True, timeout=120, check=False)
    assert made.returncode == 0, made.stderr
    lines = made.stdout.split("\n")
    assert lines[:3] == ["Town of residence", "Sex", "Number"]
    assert [int(n) for n in lines[3:7]] == published.counts[:, 1].sum(1).tolist()


# PxWebApi 2


def test_metadata_has_no_numbers(site):
    found = get(site, f"/api/v2/tables/{ID}/metadata").json()
    assert "value" not in found
    assert found["id"] == ["Town", "Sex", "Age", "ContentsCode"]
    assert found["size"] == [4, 2, 4, 1]
    assert found["role"] == {"metric": ["ContentsCode"], "geo": ["Town"]}
    assert found["dimension"]["Town"]["extension"]["elimination"] is True
    assert found["extension"]["px"]["tableid"] == ID
    assert "Office of Statistics: People of the bay" in found["source"]


@pytest.mark.filterwarnings("ignore:Shouldn't use this:DeprecationWarning:pyjstat")  # says itself
def test_data_are_json_stat(site, published):
    text = get(site, f"/api/v2/tables/{ID}/data").text
    frame = pyjstat.Dataset.read(text).write("dataframe")
    assert frame["value"].tolist() == published.counts.ravel().tolist()


def test_every_format(site, published):
    path = f"/api/v2/tables/{ID}/data"
    csv = get(site, path, outputFormat="csv").text.splitlines()
    assert csv[0] == '"Town of residence","Sex","Age group","Number"'
    assert csv[1] == f'"Ash","female","0 to 17",{published.counts[0, 0, 0]}'
    book = openpyxl.load_workbook(io.BytesIO(get(site, path, outputFormat="xlsx").content))
    assert [row[-1].value for row in book["Table"].iter_rows(min_row=2)] == (
        published.counts.ravel().tolist()
    )
    frame = pq.read_table(io.BytesIO(get(site, path, outputFormat="parquet").content))
    assert frame["count"].to_pylist() == published.counts.ravel().tolist()
    assert get(site, path, outputFormat="px").text.startswith('CHARSET="ANSI"')


def test_csv_with_options(site, published):
    found = get(
        site,
        f"/api/v2/tables/{ID}/data",
        **{"valueCodes[Age]": "top(2)", "VALUECODES[Sex]": "*"},
        outputFormat="csv",
        heading="Sex",
        outputFormatParams="UseCodes,SeparatorSemicolon,IncludeTitle",
    ).text.splitlines()
    by = published.counts.sum(0)
    assert found == [
        '"People of the bay: Sex by Age group"',
        '"Age";"Number female";"Number male"',
        f'"0_to_17";{by[0, 0]};{by[1, 0]}',
        f'"18_to_39";{by[0, 1]};{by[1, 1]}',
    ]


def test_a_variable_that_is_placed_twice_stands_once(site):
    """It is the same file, too: one copy."""
    path, placed = f"/api/v2/tables/{ID}/data", {"stub": "Age", "heading": "Sex"}
    once = get(site, path, outputFormat="px", **placed)
    twice = get(site, path, outputFormat="px", **{k: f"{v},{v}" for k, v in placed.items()})
    assert (twice.status_code, twice.text) == (200, once.text)


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        ("*", [0, 1, 2, 3]),
        ("Ash,Dogwood", [0, 3]),
        ("top(2)", [0, 1]),
        ("TOP(1,2)", [2]),
        ("bottom(2)", [2, 3]),
        ("bottom(1,1)", [2]),
        ("range(Birch,Cedar_Hill)", [1, 2]),
        ("from(Cedar_Hill)", [2, 3]),
        ("to(Birch)", [0, 1]),
        ("*h", [0, 1]),
        ("???", [0]),
        ("Ash,top(1),Ash", [0]),
    ],
)
def test_expressions(site, published, expression, places):
    found = get(site, f"/api/v2/tables/{ID}/data", **{"valueCodes[Town]": expression}).json()
    assert found["value"] == published.counts.sum((1, 2))[places].tolist()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"valueCodes[Town]": "Oak"}, "there is no value 'Oak'; there are Ash, Birch"),
        ({"valueCodes[Income]": "*"}, "the table has no variable 'Income'; it has Town, Sex, Age"),
        ({"valueCodes[Town]": "range(Ash)"}, "range has two"),
        ({"valueCodes[Town]": "from(Oak)"}, "there is no value 'Oak'"),
        ({"valueCodes[Town]": "top(x)"}, "'x' is no number of values"),
        ({"valueCodes[Town]": "top(0)"}, "a selection names no value"),
        ({"valueCodes[Town]": ",".join(f"A{i}*" for i in range(51))}, "51 patterns"),
        ({"valueCodes[Town]": "*a" * 101}, "a pattern has 202 characters; write 200 at most"),
        ({"outputFormat": "html"}, "outputFormat"),
        ({"outputFormatParams": "Bold"}, "'Bold' is no option"),
        ({"codelist[Sex]": "agg_people.Age.1"}, "is not one of Sex"),
        ({"lang": "sv"}, "lang"),
    ],
)
def test_a_wrong_selection_is_said(site, params, message):
    answer = get(site, f"/api/v2/tables/{ID}/data", 422, **params)
    assert message in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "id", ["people", "people.", "people.Income", "nope.Town", "people.Town.Region", "x" * 500]
)
def test_a_table_that_is_not_out(site, id):
    for path in ("", "/metadata", "/data"):
        get(site, f"/api/v2/tables/{id}{path}", 404)


def test_every_table_within_one_has_an_id(site, published):
    found = get(site, "/api/v2/tables/people.Sex/data").json()
    assert found["value"] == published.counts.sum((0, 2)).tolist()


def test_pages_of_tables(site):
    every = get(site, "/api/v2/tables", pageSize=100).json()
    ids = [table["id"] for table in every["tables"]]
    assert len(ids) == every["page"]["totalElements"]
    pages = [
        get(site, "/api/v2/tables", pageSize=2, pageNumber=n).json()
        for n in range(1, every["page"]["totalElements"] // 2 + 2)
    ]
    assert [t["id"] for p in pages for t in p["tables"]] == ids
    assert pages[0]["page"]["totalPages"] == -(-len(ids) // 2)
    assert get(site, "/api/v2/tables", pastDays=10_000).json()["page"] == every["page"] | {
        "pageSize": 20
    }
    assert get(site, "/api/v2/tables", query="zebra").json()["tables"] == []


def test_the_total_alone(site, published):
    found = get(site, f"/api/v2/tables/{ID}/data", **{"valueCodes[ContentsCode]": "count"}).json()
    assert (found["id"], found["value"]) == (["ContentsCode"], [published.total])


def test_labels_in_german(site):
    found = get(site, f"/api/v2/tables/{ID}/metadata", lang="de").json()
    assert found["dimension"]["ContentsCode"]["category"]["label"] == {"count": "Anzahl"}


def test_odd_names_have_plain_codes(tmp_path):
    """Commas, brackets, stars and other scripts do not reach the address."""
    names = ["a,b[c]", "Größe (m²)", "年齢", "Contents code"]
    with world(tmp_path) as made:
        table = Table.of(np.full((2, 2, 2, 2), 60), **{n: ["x, y*", "=1"] for n in names})
        made.site.counter.open(table, Policy.of(PEOPLE), slug="odd")
        made.site.counter.request("odd", names)
        with serving(made) as address:
            api = PxApi(f"{address}/api/v2")
            id = max((t["id"] for t in api.all_tables()), key=len)
            assert id == "odd.a_b_c.Grosse_m2.C4.Contents_code"
            rows = api.get_table_data_all(id)
            assert [row["value"] for row in rows] == [60] * 16
            assert set(rows[0]) == {*names, "contents", "value"}
            assert api.get_table_data(id, {"a_b_c": "x_y"})[0]["value"] == 480


# The first API


def test_the_way_down(site):
    assert {"dbid": "people", "text": "People of the bay"} in get(site, V1).json()
    levels = get(site, f"{V1}/people").json()
    assert {"Town.Sex.Age", "Region.Age"} <= {one["id"] for one in levels}
    assert {one["type"] for one in levels} == {"t"}
    found = get(site, f"{V1}/people/Town.Sex.Age").json()
    assert [one["code"] for one in found["variables"]] == ["Town", "Sex", "Age"]
    assert found["variables"][0]["valueTexts"] == list(TOWNS)
    assert get(site, f"{V1}/people/Town.Sex.Age.px").json() == found


@pytest.mark.parametrize("path", ["", "/people", "/people/Town.Sex.Age"])
def test_the_limits_as_rs_pxweb_asks_for_them(site, path):
    found = get(site, f"{V1}{path}?config").json()
    assert {"maxValues", "maxCalls", "timeWindow", "CORS"} <= set(found)


def post(site, query, form, status=200, type="text/plain"):
    body = json.dumps({"query": query, "response": {"format": form}})
    answer = site.client().request(
        "POST", f"{V1}/people/Town.Sex.Age", content=body, headers={"Content-Type": type}
    )
    assert answer.status_code == status, answer.text
    return answer


def picked(code, *values, filter="item"):
    return {"code": code, "selection": {"filter": filter, "values": list(values)}}


def test_a_query_in_every_format(site, published):
    query = [picked("Town", "Ash", "Birch"), picked("Sex", "*", filter="all")]
    wanted = published.counts[:2].sum(2)
    plain = post(site, query, "json").json()
    assert [int(cell["values"][0]) for cell in plain["data"]] == wanted.ravel().tolist()
    assert plain["data"][1]["key"] == ["Ash", "male"]
    assert [column["type"] for column in plain["columns"]] == ["d", "d", "c"]
    old = post(site, query, "json-stat").json()["dataset"]
    assert (old["value"], old["dimension"]["size"]) == (wanted.ravel().tolist(), [2, 2])
    assert post(site, query, "json-stat2").json()["value"] == wanted.ravel().tolist()
    assert post(site, query, "csv").text.splitlines()[1] == f'"Ash","female",{wanted[0, 0]}'
    assert "DATA=" in post(site, query, "px").text
    book = openpyxl.load_workbook(io.BytesIO(post(site, query, "xlsx").content))
    assert book["Table"].max_row == 5


def test_other_filters(site, published):
    top = post(site, [picked("Age", "2", filter="top")], "json-stat2").json()
    assert top["value"] == published.counts.sum((0, 1))[:2].tolist()
    some = post(site, [picked("Town", "D*", filter="all")], "json-stat2").json()
    assert some["value"] == [published.counts[3].sum()]
    coarse = picked("Age", "*", filter="agg:agg_people.Age.1")
    assert len(post(site, [coarse], "json-stat2").json()["value"]) == 2
    everything = post(site, [], "json-stat2", type="application/json").json()
    assert everything["value"] == published.counts.ravel().tolist()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{", "the query cannot be read: the body: it is not JSON"),
        ("[" * 100_000, "the query cannot be read"),
        ('{"query": [{"code": "Town"}]}', "query.0.selection"),
        ('{"response": {"format": "sdmx"}}', "response.format"),
        (json.dumps({"query": [picked("Town", "Oak")]}), "there is no value 'Oak'"),
        (json.dumps({"query": [picked("Income", "*")]}), "the table has no variable 'Income'"),
        (json.dumps({"query": [picked("Town", "Ash", *map(str, range(51)))]}), "51 patterns"),
        (json.dumps({"query": [picked("Town", "*")] * 201}), "at most 200"),
    ],
)
def test_a_wrong_query_is_said(site, body, message):
    client = site.client()
    answer = client.request("POST", f"{V1}/people/Town.Sex.Age", content=body[:60_000])
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]


def test_reading_is_counted(site):
    before = site.client().get("/api/v1/datasets/people/statistics").json()["totals"]
    get(site, f"/api/v2/tables/{ID}/data", outputFormat="px")
    site.site.uses.write(site.site.database)
    after = site.client().get("/api/v1/datasets/people/statistics").json()["totals"]
    assert after["download px"] > before.get("download px", 0)
