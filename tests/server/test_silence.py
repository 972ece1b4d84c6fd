"""What leaves the process without a custodian's login names no cell and no count."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from discreet.decision.answering.gate import NotSafe, why
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.settings import Settings
from discreet.table.table import Table
from server.sites import MYOPIC, world

SECRETS = ("judge", "Ethelred", "17389", "baker")
JOBS = pd.DataFrame(
    [("nurse", "F")] * 30 + [("clerk", "M")] * 30 + [("clerk", "F")] * 20 + [("judge", "F")],
    columns=["Job", "Sex"],
)


def text_of(frame):
    return frame.to_csv(index=False)


FILES = {
    "one judge": (text_of(JOBS), []),
    "no frontier": (text_of(JOBS), ["--set", "server.rule=static", "--frontier", "Job*Sex"]),
    "a name": ("Job,Sex\n" + "Ethelred,F\nEthelred ,M\nETHELRED,F\n" * 9, []),
    "a count that is none": ("Job,Sex,n\nbaker,F,17389.5\nclerk,M,30\n", ["--count", "n"]),
    "a cell twice": ("Job,Sex,n\nbaker,F,17389\nbaker,F,2\nclerk,M,3\n", ["--count", "n"]),
    "a total": ("Job,Sex,n\nbaker,F,17389\nclerk,F,5\nTotal,F,17395\n", ["--count", "n"]),
    "a row too long": ("Job,Sex\nbaker,F\nbaker,F,17389\n", ["--records"]),
    "a codebook": (text_of(JOBS), ["--codebook", "book.toml"]),
}


@pytest.mark.parametrize("file", FILES)
def test_a_refused_opening_names_nothing(tmp_path, file):
    content, words = FILES[file]
    (tmp_path / "people.csv").write_text(content)
    (tmp_path / "book.toml").write_text('[variables.Job]\ncategories = ["nurse", "clerk"]\n')
    if "--set" not in words:
        words = ["--set", "server.rule=myopic", *words]
    if not {"--count", "--records"} & {*words}:
        words = ["--records", *words]
    own = {k: v for k, v in os.environ.items() if not k.startswith("DISCREET_")}
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "serve", "people.csv", *words],
        env=own | {"DISCREET_PORT": "1"},  # so that it ends, whatever happens
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stderr + done.stdout
    assert done.returncode == 2, said
    assert not [one for one in SECRETS if one in said]
    assert "discreet assess" in said
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(tmp_path):
    settings = prepare(Settings(database=f"sqlite:///{tmp_path}/x.db"))
    with pytest.raises(DisclosureError, match=r"nowhere\.csv"):
        build_services(settings, [DataSpec("people", f"{tmp_path}/nowhere.csv")])


def test_the_custodian_is_told_why(tmp_path):
    table = Table.of(np.array([[40, 2], [30, 0]]), A=["a", "b"], B=["x", "judge"])
    with world(tmp_path) as made:
        rules = MYOPIC | {"server.one_way": False, "attribute.check": False}
        made.site.counter.open(table, Policy.of(rules), slug="few")
        with pytest.raises(NotSafe) as caught:
            made.site.counter.change_policy("few", {"server.one_way": True}, "7")
        assert "judge" not in str(caught.value)
        assert "merge 'judge' of B" in why(caught.value)
        staff = made.client("custodian")
        policy = "/api/v1/datasets/few/policy"
        body = {"changes": {"server.one_way": True}}
        told = staff.post(policy, body, headers={"If-Match": '"1"'})
        assert (told.status_code, told.json()["error"]["code"]) == (422, "wrong_input")
        assert "merge 'judge' of B" in told.text
        form = {"server.one_way": "true", "version": "1"}
        page = staff.request("POST", "/desk/few/policy", data=form)
        assert "judge" in page.text
        assert "judge" not in made.client().post(policy, body).text
