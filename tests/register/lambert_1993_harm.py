"""Lambert 1993, sections 6 and 7: inference about a sensitive value, and harm."""

from register.entry import Entry

PEOPLE = """id,age,ill,region
1,20,no,North
2,24,no,North
3,30,no,North
4,34,yes,North
5,40,yes,South
6,44,yes,South
7,50,no,South
8,60,no,South
9,70,yes,South
"""
MASKED = """id,age,ill
2,20.2,no
4,30.1,yes
6,39.9,yes
7,50.2,no
8,60.1,yes
9,69.8,yes
"""
DEBTORS = """id,age,debt,region
1,40,0,North
2,40,1000,North
3,60,600,South
4,80,300,South
"""
DEBTS = """id,age,debt
1,40.1,0
2,40.1,1000
3,60.3,700
4,79.8,250
"""
KNOWS = '[keys.age]\nkind = "normal"\nspread = 1.0\n'
COSTS = "[costs]\nFN = 1\nTN = 2\nFF = 10\nFT = 6\nTF = 8\nTT = 5\n"
ILL = 'sensitive = "ill"\nq = 0.95\n'
ASK = (
    "discreet identify --source people.csv --released masked.csv --id id --intruder knows.toml "
    "--harm harm.toml"
)
TIMES = 'times = { column = "region", by = { North = 1, South = 3 } }\n'


def ill(harm: str) -> dict[str, str]:
    files = {"people.csv": PEOPLE, "masked.csv": MASKED, "knows.toml": KNOWS}
    return files | {"harm.toml": ILL + harm}


def debt(harm: str) -> dict[str, str]:
    files = {"people.csv": DEBTORS, "masked.csv": DEBTS, "knows.toml": KNOWS}
    return files | {"harm.toml": f'sensitive = "debt"\n{harm}'}


BELIEFS = "dc.linkage.record_beliefs(np.array([0, 1]), kept, np.array([[17 / 54, 37 / 54]]))[:, 1]"

HARM: list[Entry] = [
    Entry(
        "section 6.2, equation 3",
        "P[Y = 1] of a record that says 0, and of one that says 1: q .95, 37/54 before",
        "",
        BELIEFS,
        [0.1027778, 0.9763889],
        given="kept = np.array([[0.95, 0.05], [0.05, 0.95]])",
        within=1e-6,
    ),
    Entry(
        "section 6.2",
        "q = 1: the category is read from the record",
        "1",
        BELIEFS,
        [0.0, 1.0],
        given="kept = np.array([[1.0, 0.0], [0.0, 1.0]])",
    ),
    Entry(
        "section 6.2",
        "q = 0: the opposite of what is on the record is believed",
        "",
        BELIEFS,
        [1.0, 0.0],
        given="kept = np.array([[0.0, 1.0], [1.0, 0.0]])",
    ),
    Entry(
        "section 6.2",
        "logistic relationship fitted to released values that may be wrong: slope of age",
        "",
        ASK,
        0.063925,
        within=1e-5,
        pick="harm.model.coefficients.1.estimate",
        files=ill('predict = ["age"]\n' + COSTS),
        note="the log-likelihood printed leaves out the records with x = 0",
    ),
    Entry(
        "section 6.3",
        "harm of a category: an outcome of each kind, costs 1, 2, 10, 6, 8, 5",
        "",
        ASK,
        32.0,
        pick="harm.total",
        files=ill(COSTS),
    ),
    Entry(
        "section 6.3",
        "a respondent need not be harmed alike: costs of the South three times as high",
        "",
        ASK,
        74.0,
        pick="harm.total",
        files=ill(TIMES + COSTS),
    ),
    Entry(
        "section 6.3",
        "respondents who are assigned to the sensitive category",
        "",
        ASK,
        4,
        pick="harm.values.1.inferred",
        files=ill(COSTS),
    ),
    Entry(
        "section 6.3",
        "of them, correctly re-identified",
        "",
        ASK,
        2,
        pick="harm.values.1.linked",
        files=ill(COSTS),
    ),
    Entry(
        "section 6.3",
        "harm of a number, (estimate - y)^2 of overestimates",
        "",
        ASK,
        10_000.0,
        pick="harm.total",
        files=debt('[number]\ncost = "overestimate"\n'),
    ),
    Entry(
        "section 6.3",
        "harm of a number, L = 7 if it is taken to exceed T = 600",
        "",
        ASK,
        7.0,
        pick="harm.total",
        files=debt('[number]\ncost = "threshold"\nlimit = 600\nloss = 7\n'),
    ),
    Entry(
        "section 6.3",
        "total harm, sum of max(0, estimate - y)",
        "",
        ASK,
        100.0,
        pick="harm.total",
        files=debt('[number]\ncost = "excess"\n'),
    ),
    Entry(
        "section 6.3",
        "H_Bayes of a category: c_F 1 and 10, c_T 2 and 5",
        "",
        ASK,
        33.6666667,
        pick="harm.total",
        files=ill("[bayes]\nF = { no = 1, yes = 10 }\nT = { no = 2, yes = 5 }\n"),
        within=1e-5,
    ),
    Entry(
        "section 6.3",
        "H_Bayes of a number: (y - t)^2 of overestimates over all candidates",
        "",
        ASK,
        510_000.0,
        pick="harm.total",
        files=debt('belief = "mixture"\n[number]\ncost = "overestimate"\n'),
        note="at the mean of the belief it is 260,000",
    ),
    Entry(
        "section 6.3",
        "H_Bayes of a normal belief (100, 20) about 95, max(0, y - t)",
        "",
        "dc.linkage.expected_harm(dc.linkage.Normal(100, 20), loss, truth=95).expected",
        10.726894,
        given="loss = dc.linkage.NumberLoss('excess')",
        within=1e-5,
        note="at the mean it is 5",
    ),
    Entry(
        "section 7",
        "false re-identifications from masked records: right and wrong links",
        "",
        ASK,
        3.0,
        pick="true.wrong",
        files=ill(COSTS),
    ),
    Entry(
        "section 7",
        "harm depends on the intruder's strategy: nothing is inferred below .99",
        "",
        ASK,
        9.0,
        pick="harm.total",
        files=ill("infer = 0.99\n" + COSTS),
    ),
]
