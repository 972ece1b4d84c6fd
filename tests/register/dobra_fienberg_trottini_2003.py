"""Dobra, Fienberg & Trottini 2003, in the paper's order."""

from register.entry import Entry

PAIRS = "Race*Income + Income*Gender"
TRACT = 'table = dc.load("example:tract")'
RELEASE = f'{TRACT}\nrelease = dc.Release.margins(table, "{PAIRS}")'
GUESSER = """[[users]]
name = "guesses the small counts"
role = "intruder"
target = "small"
prior = "release"
threshold = [0.4, 0.6]
"""
SCIENTIST = """[[users]]
name = "estimates the small counts"
role = "scientist"
target = "small"
prior = "release"
"""
SHARE = """[[users]]
name = "wants a share"
role = "scientist"
target = { share = { Income = "over $25,000" }, of = { Race = "Black" } }
prior = "release"
"""
CLASS = """[[users]]
measure = "true-table"
prior = ["uniform", "saturated:0.5", "release"]
"""
MEASURES = {
    "(3)": '[[users]]\nmeasure = "tightness"\n',
    "(4)": '[[users]]\nmeasure = "true-table"\n',
    "(5)": '[[users]]\nmeasure = "identified"\nprior = "release"\nzeros = false\n',
}
CHOOSE = f'discreet choose example:tract --users users.toml --release "{PAIRS}"'
MOVIES = """Movie,Book,Colour,n
Alien,Emma,red,5
Alien,Emma,blue,1
Alien,Ulysses,red,2
Brazil,Emma,red,6
Brazil,Ulysses,blue,7
"""
TOWN = """Hair,Height,Town,n
red,seven feet,X,1
red,less,X,12
brown,less,X,30
brown,less,Y,40
red,less,Y,25
"""
SQUARE = "square = dc.Table.of([[1, 1], [1, 1]], A=[0, 1], B=[0, 1])"


def roles(names: str, role: str) -> str:
    return "".join(f'[variables.{name}]\nrole = "{role}"\n' for name in names.split())


FRAMEWORK = [
    Entry(
        "section 2", "a request is answered: released, or refused", "",
        "discreet choose example:tract --users users.toml --release Race*Income*Gender --nothing "
        "--limit 0.5",
        "nothing", pick="best", files={"users.toml": MEASURES["(5)"]}, code=1,
    ),
    Entry(
        "section 2", "the most useful release within what an intruder may learn", "",
        "discreet choose example:tract --users users.toml --release Gender*Income+Race "
        f'--release "{PAIRS}" --limit 0.5',
        "Gender*Income + Race", pick="best", files={"users.toml": MEASURES["(5)"] + SHARE},
    ),
    Entry(
        "section 3", "the best estimate and its uncertainty, cell (1,3,1), zero-one loss", "",
        "[outlook.estimates[0], float(outlook.uncertainty[0])]", [1, 0.4994],
        given=f"{RELEASE}\nuser = dc.users.User.of('x', dc.users.cell_targets(table, "
        "table.small()), loss='zero-one', cost=lambda *_: 0)\noutlook = user.outlook(release)",
    ),
    Entry(
        "section 3", "who is more uncertain than the threshold gives up", "",
        "float(user.outlook(release).tries[0])", 0.0,
        given=f"{RELEASE}\nuser = dc.users.User.of('x', dc.users.cell_targets(table, "
        "table.small()), loss='zero-one', cost=lambda *_: 0, threshold=0.49)",
    ),
    Entry(
        "(1)", "risk by an intruder whose threshold is 0.4 or 0.6, alike", "",
        f"{CHOOSE} --limit 0.4", 0.375, pick="masks.0.risk", files={"users.toml": GUESSER},
        note="by Table 4: three of four right, each tried half the time",
    ),
    Entry(
        "(2)", "utility to a scientist who estimates the small counts, squared error", "",
        f"{CHOOSE} --limit 1", -0.1963, pick="masks.0.utility",
        files={"users.toml": GUESSER + SCIENTIST},
        note="the sum runs over both actions; by the means of Table 4",
    ),
    Entry(
        "section 3", "classes of priors: the worst of three for (4)", "",
        f"{CHOOSE} --limit 1", 2.3952e-4, pick="masks.0.risk", files={"users.toml": CLASS},
        within=1e-8,
    ),
    Entry(
        "section 3", "classes of targets: the mean over the cells", "",
        "[float(outlook.losses.mean()), outlook.loss]", [2 / 3, 2 / 3],
        given=f"{RELEASE}\noutlook = dc.users.identified(table, 'release').outlook(release)",
    ),
    Entry(
        "section 3", "max DU subject to DR at most alpha", "",
        "discreet choose example:tract --users users.toml --release Race+Income*Gender "
        f'--release Race*Income+Gender --release "{PAIRS}" --limit 0.4',
        "Race*Income + Gender", pick="best", files={"users.toml": GUESSER + SHARE},
    ),
    Entry(
        "4.1, (3)", "minus the narrowest width of a small count", "-min {U - L}",
        f"{CHOOSE} --limit -1", -1.0, pick="masks.0.risk", files={"users.toml": MEASURES["(3)"]},
    ),
    Entry(
        "4.1", "the intruder's uncertainty: the widths of all cells, summed", "sum of U - L",
        "float(dc.users.tightness(table).outlook(release).uncertainty[0])", 196.0, given=RELEASE,
    ),
    Entry(
        "4.2, (4)", "the probability of the true table, all alike", "1/M",
        f"{CHOOSE} --limit 1", 1 / 59_400, pick="masks.0.risk",
        files={"users.toml": MEASURES["(4)"]}, within=1e-9,
    ),
    Entry(
        "4.2", "the intruder's uncertainty: the entropy", "log M",
        "float(dc.users.true_table(table).outlook(release).uncertainty[0])", 10.9921,
        given=RELEASE,
    ),
    Entry(
        "4.3, (5)", "the share of small counts guessed right, conditional independence",
        "three of four", f"{CHOOSE} --limit 1", 0.75, pick="masks.0.risk",
        files={"users.toml": MEASURES["(5)"]},
        note="without zeros, as the text after Table 4 counts; at a limit the inequality is >=",
    ),
]  # fmt: skip

DISCUSSION = [
    Entry(
        "discussion", "of two sub-tables of the same utility, the one of lower risk", "",
        "choice.best", "b",
        given="choice = dc.users.choose({'a': (0.3, 5), 'b': (0.1, 5)}, risk=lambda m: m[0], "
        "utility=lambda m: m[1], limit=0.5)",
    ),
    Entry(
        "discussion", "red hair, seven feet, in one town: identified, nothing confidential", "",
        "discreet assess town.csv --count n --codebook town.toml --release Hair*Height*Town",
        "PASS", pick="reasons.2.verdict", code=1,
        files={"town.csv": TOWN, "town.toml": roles("Hair Height Town", "identifying")},
        note="no attribute is disclosed; the rule on small counts fails",
    ),
    Entry(
        "discussion", "favourite movie, book, colour: small counts that identify nobody", "",
        "discreet assess movies.csv --count n --codebook movies.toml --release Movie*Book*Colour "
        "--set published.least=0",
        "PASS", pick="verdict",
        files={"movies.csv": MOVIES, "movies.toml": roles("Movie Book Colour", "sensitive")},
    ),
    Entry(
        "discussion, Table 1", "all blonds of a town have a high income", "4 and 0",
        "discreet assess example:blond --release Hair*Income", "FAIL", pick="reasons.2.verdict",
        code=1,
    ),
    Entry(
        "discussion", "a refusal of a 2 x 2 table with margins (2, 2), (2, 2)", "one table",
        "dc.beliefs.refusal_posterior(release, 'A*B', refuses).tables", [3, 1],
        given=f"{SQUARE}\nrelease = dc.Release.margins(square, 'A + B')\n"
        "refuses = lambda table, request: 1 in table.counts",
        note="before and after; unique is a count of 1",
    ),
    Entry(
        "reply", "cells that nearly equal a margin: attribute disclosure across margins", "",
        "discreet assess example:blond --release Hair*Income", 2, pick="risk.disclosed_groups",
        code=1,
    ),
    Entry(
        "reply", "several intruders: the worst", "",
        f"{CHOOSE} --limit 1", 0.75, pick="masks.0.risk",
        files={"users.toml": MEASURES["(4)"] + MEASURES["(5)"]},
    ),
    Entry(
        "reply", "several scientists: weighted", "",
        "float(dc.users.data_utility(release, *both, weights=[0.25, 0.75]))", -0.75,
        given=f"{SQUARE}\nrelease = dc.Release.margins(square, 'A + B')\n"
        "cells = dc.users.cell_targets(square, None, 'uniform')\n"
        "both = [dc.users.User.of('s', cells, loss='squared', threshold=t, "
        "cost=dc.users.own_loss('squared', idle=3)) for t in (0.1, 9)]",
    ),
    Entry(
        "reply", "if no mask is within the limit, release no data", "",
        f"{CHOOSE} --limit 0.7", None, pick="best", files={"users.toml": MEASURES["(5)"]}, code=1,
    ),
]  # fmt: skip

ENTRIES: list[Entry] = [*FRAMEWORK, *DISCUSSION]
