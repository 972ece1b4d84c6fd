"""The office's pages: roles, invitations, the curated list."""

import re

import pytest

from server.sites import MYOPIC, PASSWORD, Client, world


@pytest.fixture
def here(tmp_path):
    with world(tmp_path, logins_per_minute=10**6) as made:
        yield made.open(
            "czech", MYOPIC | {"server.curated": True}, "example:czech", listed=[["A", "B"]]
        )


def post(client, path, **data):
    return client.request("POST", path, data=data)


# Roles and invitations


def test_a_role_is_changed_on_the_page(here):
    custodian, ann = here.client("custodian"), here.users["analyst"]
    assert f'action="/desk/users/{ann}/role"' in custodian.get("/desk/users").text
    done = post(custodian, f"/desk/users/{ann}/role", role="auditor")
    assert done.headers["location"] == "/desk/users?done=role"
    assert here.site.accounts.user(ann).role == "auditor"
    assert here.client("analyst").get("/api/v1/me").status_code == 401, "its keys ended"
    own = here.users["custodian"]
    last = post(custodian, f"/desk/users/{own}/role", role="analyst")
    assert last.status_code == 422
    assert "is the last custodian" in last.text
    assert post(custodian, f"/desk/users/{ann}/role", role="king").status_code == 422
    assert post(custodian, "/desk/users/999/role", role="analyst").status_code == 422


def test_an_invited_person_sets_the_password_on_a_page(here):
    custodian, person = here.client("custodian"), Client(here.app, here.runner)
    made = post(custodian, "/desk/users", name="ada", role="analyst")
    link = re.search(r"http://test(/invitation/[\w-]{43})<", made.text)[1]
    assert "invited until" in custodian.get("/desk/users").text
    page = person.get(link)
    assert page.status_code == 200
    assert "You are invited as <strong>ada</strong>" in page.text
    weak = post(person, link, password="short")
    assert weak.status_code == 422
    assert "too short" in weak.text
    done = post(person, link, password=PASSWORD)
    assert done.headers["location"] == "/login?done=password"
    assert "The password is set." in person.get(done.headers["location"]).text
    assert person.get(link).status_code == 404
    assert post(person, link, password=PASSWORD).status_code == 422
    assert here.site.accounts.authenticate("ada", PASSWORD).name == "ada"
    trail = custodian.get("/desk/trail").text
    assert "invitation used" in trail
    assert link.rpartition("/")[2] not in trail


def test_an_invitation_over_the_api(here):
    custodian, ann = here.client("custodian"), here.users["analyst"]
    made = custodian.post(f"/api/v1/users/{ann}/invitation")
    assert made.status_code == 201
    assert made.json()["link"].startswith("http://test/invitation/")
    assert here.client("auditor").post(f"/api/v1/users/{ann}/invitation").status_code == 403
    assert custodian.post("/api/v1/users/999/invitation").status_code == 422


def test_ones_own_address(here):
    analyst, ann = here.client("analyst"), here.users["analyst"]
    assert analyst.post("/api/v1/me/email", {"email": "ann@example.org"}).status_code == 204
    assert here.site.accounts.user(ann).email == "ann@example.org"
    assert analyst.post("/api/v1/me/email", {"email": "nowhere"}).status_code == 422
    assert post(analyst, "/account/email", email="").headers["location"] == "/account?done=email"
    assert here.site.accounts.user(ann).email is None
    odd = post(analyst, "/account/email", email="a@b\r\nBcc: c@d")
    assert odd.status_code == 422


# The curated list


def test_the_list_is_changed_on_the_page(here):
    custodian = here.client("custodian")
    page = custodian.get("/desk/czech/listed").text
    assert ">A*B</textarea>" in page
    assert "Only these tables" in page
    done = post(custodian, "/desk/czech/listed", margins="C*D*E\r\n\r\n A*F + B \n")
    assert done.headers["location"] == "/desk/czech/listed?done=listed"
    listed = custodian.get("/api/v1/datasets/czech/listed").json()["margins"]
    assert listed == [["C", "D", "E"], ["A", "F"], ["B"]]
    html = custodian.get("/desk/czech/listed?done=listed").text
    assert "The list is changed." in html
    assert "C*D*E\nA*F\nB</textarea>" in html
    entry = custodian.get("/api/v1/datasets/czech/ledger").json()["entries"][-1]
    assert (entry["kind"], entry["actor"]) == ("listed", str(here.users["custodian"]))
    status = custodian.get("/api/v1/datasets/czech/status?variables=A,B").json()
    assert status["why"] == "unlisted"


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("A*Z", "Unknown variable"),
        ("@/etc/passwd", ""),
        ("A*B\n<b>", ""),
        ("\n".join("A" for _ in range(1001)), "1,001 tables"),
    ],
)
def test_a_list_that_cannot_be_is_refused_with_what_was_typed(here, sent, said):
    custodian = here.client("custodian")
    before = custodian.get("/api/v1/datasets/czech/listed").json()
    refused = post(custodian, "/desk/czech/listed", margins=sent)
    assert refused.status_code == 422
    assert said in refused.text
    assert "root:" not in refused.text
    assert "<b>" not in refused.text
    assert custodian.get("/api/v1/datasets/czech/listed").json() == before


def test_an_auditor_reads_the_list(here):
    auditor = here.client("auditor")
    html = auditor.get("/desk/czech/listed").text
    assert "<li>A by B</li>" in html
    assert "<textarea" not in html
    assert post(auditor, "/desk/czech/listed", margins="A").status_code == 403


def test_an_empty_list_allows_nothing_new(here):
    custodian = here.client("custodian")
    assert post(custodian, "/desk/czech/listed", margins="").status_code == 303
    assert custodian.get("/api/v1/datasets/czech/listed").json()["margins"] == []
