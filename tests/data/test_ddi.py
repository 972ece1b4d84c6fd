"""DDI codebooks: labels, missing codes, weights, words; safe from what XML can do."""

import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.data.codebook import MISSING
from discreet.errors import CodebookError

BODY = """
<stdyDscr><citation><titlStmt><titl>Survey of Ash</titl></titlStmt></citation>
<stdyInfo><sumDscr><timePrd>2020</timePrd><universe>Adults
  of Ash</universe></sumDscr></stdyInfo></stdyDscr>
<dataDscr>
<var ID="V1" name="SEX"><labl>Sex of the person</labl>
<qstn><qstnLit>What is your sex?</qstnLit></qstn>
<catgry><catValu>1</catValu><labl>male</labl></catgry>
<catgry><catValu>2</catValu><labl>female</labl></catgry>
<catgry missing="Y"><catValu>9</catValu><labl>refused</labl></catgry></var>
<var ID="V2" name="AGE"><labl>Age</labl>
<invalrng><item VALUE="-1"/></invalrng>
<catgry><catValu>98</catValu><labl>98 or older</labl></catgry></var>
<var ID="V3" name="W" wgt="wgt"><labl>Weight</labl></var>
<var ID="V4" name="OTHER"><labl>Not in these data</labl></var>
</dataDscr>"""
KINDS = {
    "2.5": f'<codeBook xmlns="ddi:codebook:2_5" version="2.5">{BODY}</codeBook>',
    "prefixed": '<ddi:codeBook xmlns:ddi="ddi:codebook:2_6">'
    + BODY.replace("</", "</ddi:").replace("<", "<ddi:").replace("<ddi:/ddi:", "</ddi:")
    + "</ddi:codeBook>",
    "1.2.2": '<?xml version="1.0" encoding="ISO-8859-1"?>'
    f'<!DOCTYPE codeBook SYSTEM "Version1-2-2.dtd"><codeBook version="1.2.2">{BODY}</codeBook>',
}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    pd.DataFrame(
        {
            "SEX": ["1", "2", "9", "2", "1", "3"] * 2,
            "AGE": ["98", "7", "-1", "15", "7", "15"] * 2,
            "W": ["1.5", "2.5", "1.25", "3.5", "1.5", "2.5"] * 2,
        }
    ).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_labels_missing_codes_and_weights(people, kind):
    people.with_suffix(".xml").write_text(KINDS[kind])
    table = dc.load(people, codebook=people.with_suffix(".xml"))
    assert table.names == ("SEX", "AGE")  # W is the weight
    assert table.variable("SEX").categories == ("male", "female", "3", MISSING)
    assert table.variable("AGE").categories == ("7", "15", "98 or older", MISSING)
    assert table.margin("SEX").dense().tolist() == [4, 4, 2, 2]


def test_words_are_kept(people):
    people.with_suffix(".xml").write_text(KINDS["2.5"])
    book = dc.codebooks.Codebook.read(people.with_suffix(".xml"))
    assert book.entry("SEX").title == "Sex of the person"
    assert book.entry("SEX").description == "What is your sex?"
    assert (book.about.source, book.about.universe) == ("Survey of Ash", "Adults of Ash")
    assert book.weights == "W"


def test_a_documentation_does_not_say_what_rows_are(tmp_path):
    """It describes the column of counts too: that must not make people of cells."""
    (tmp_path / "x.csv").write_text("Sex,Town,n\nf,A,5\nf,B,7\nm,A,1\nm,B,9\n")
    (tmp_path / "x.xml").write_text(
        "<codeBook><dataDscr>"
        + "".join(f'<var name="{name}"><labl>{name}</labl></var>' for name in ("Sex", "Town", "n"))
        + "</dataDscr></codeBook>"
    )
    with pytest.raises(dc.errors.WrongKind, match="looks like a count"):
        dc.load(tmp_path / "x.csv", codebook=tmp_path / "x.xml")
    table = dc.load(tmp_path / "x.csv", codebook=tmp_path / "x.xml", count="n")
    assert table.total == 22


def test_two_codes_with_one_label_stay_two_categories(tmp_path):
    (tmp_path / "x.csv").write_text("A,B\n1,x\n2,x\n1,y\n2,y\n1,x\n")
    (tmp_path / "x.xml").write_text(
        '<codeBook><dataDscr><var name="A"><catgry><catValu>1</catValu><labl>other</labl></catgry>'
        "<catgry><catValu>2</catValu><labl>other</labl></catgry></var></dataDscr></codeBook>"
    )
    table = dc.load(tmp_path / "x.csv", codebook=tmp_path / "x.xml")
    assert table.variable("A").categories == ("other (1)", "other (2)")


LAUGHS = """<!DOCTYPE codeBook [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<codeBook><dataDscr><var name="&b;"/></dataDscr></codeBook>"""
BAD = {
    "laughs": (LAUGHS, "'x.xml' declares entities, which are not read"),
    "outside": (
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><codeBook>&x;</codeBook>',
        "declares entities",
    ),
    "broken": ("<codeBook><dataDscr>", "'x.xml' is no XML: no element found in line 1"),
    "no variables": ("<codeBook/>", "is no DDI codebook with variables"),
    "web page": ("<html/>", "begins with 'html': it is no DDI codebook"),
    "two labels": (
        '<codeBook><dataDscr><var name="A"><catgry><catValu>1</catValu><labl>a</labl></catgry>'
        "<catgry><catValu>1</catValu><labl>b</labl></catgry></var></dataDscr></codeBook>",
        "gives the code '1' of 'A' two labels",
    ),
    "other data": (
        '<codeBook><dataDscr><var name="X"/></dataDscr></codeBook>',
        "the codebook describes 'X', and none of the columns",
    ),
    "place": (
        '<codeBook><dataDscr><var name="X"><location StartPos="a" width="1"/></var>'
        "</dataDscr></codeBook>",
        "says that 'X' stands at 'a'",
    ),
    "encoding": ('<?xml version="1.0" encoding="none"?><codeBook/>', "x.xml' is"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_codebook_is_one_sentence(people, kind):
    content, message = BAD[kind]
    people.with_name("x.xml").write_text(content)
    with pytest.raises(CodebookError, match=message) as caught:
        dc.load(people, codebook=people.with_name("x.xml"))
    assert "\n" not in str(caught.value)


def test_a_codebook_that_is_not_there(people):
    with pytest.raises(CodebookError, match="no such file or directory; check the path"):
        dc.load(people, codebook=people.with_name("none.xml"))


def test_assess_with_ddi(people):
    people.with_suffix(".xml").write_text(KINDS["2.5"])
    result = CliRunner().invoke(
        main,
        ["assess", str(people), "--codebook", str(people.with_suffix(".xml")), "--release", "SEX"],
    )
    assert result.exit_code in (0, 1, 3)
    assert "over SEX, AGE" in result.stdout
