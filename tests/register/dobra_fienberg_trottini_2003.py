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

SMALL = f"{RELEASE}\nrows = [0, 1, 3, 2]"  # (1,3,1), (1,3,2), (2,3,2), (1,3,3)
BELIEVED = f'discreet posterior example:tract --release "{PAIRS}"'
INTERACT = f"{PAIRS} + Race*Gender"
MODELS = f"""model,probability
Race*Income*Gender,0.22
{INTERACT},0.67
{PAIRS},0.11
"""

TABLES = [
    Entry(
        "section 5", "the bounds of the four small counts", "0 to 1, 0 to 2, 0 to 2, 0 to 2",
        "np.stack([found.lower, found.upper], 1)[rows]", [[0, 1], [0, 2], [0, 2], [0, 2]],
        given=f"{SMALL}\nfound = dc.bounds(release, table.small())",
    ),
    Entry(
        "(6)", "how many tables are summed over", "M(T)", BELIEVED, "59400",
        pick="diagnostics.tables", note="44 x 45 x 30",
    ),
    Entry(
        "(6)", "the most probable value is the best guess: how many are right, saturated", "none",
        BELIEVED, 1, pick="risk.right", note="of (1,3,1), by .5006 to .4994",
    ),
    Entry(
        "(8), (9)", "the probability of the true table, saturated", "", BELIEVED, 4.199e-6,
        pick="risk.true_table", within=1e-9,
    ),
    Entry(
        "(8), (9)", "the same under conditional independence", "",
        f'{BELIEVED} --model "{PAIRS}"', 2.3952e-4, pick="risk.true_table", within=1e-8,
    ),
    Entry(
        "(8)", "the same if every table is alike", "", f"{BELIEVED} --model uniform",
        1 / 59_400, pick="risk.true_table", within=1e-9,
    ),
    Entry(
        "Table 1", "the table", "742 people in 18 cells", "[table.total, table.size]", [742, 18],
        given=TRACT,
    ),
    Entry(
        "Table 2", "saturated, alpha = 1/2",
        ".50 .50, .43 .26 .31, .31 .26 .43, .39 .25 .36",
        "dc.posterior(release, table.small()).matrix()[rows]",
        [[0.4994, 0.5006, 0], [0.3739, 0.25, 0.3761], [0.3761, 0.25, 0.3739],
         [0.3777, 0.25, 0.3723]],
        given=SMALL, note="printed from 500 draws",
    ),
    Entry(
        "Table 3", "no second-order interaction",
        ".64 .36, .44 .36 .20, .20 .36 .44, .14 .34 .52",
        f"dc.posterior(release, table.small(), model='{INTERACT}').matrix()[rows]",
        [[0.6091, 0.3909, 0], [0.4151, 0.3568, 0.2281], [0.2281, 0.3568, 0.4151],
         [0.1393, 0.3131, 0.5476]],
        given=SMALL, within=0.008,
        note="sampled to a standard error of .002; printed from 500 draws",
    ),
    Entry(
        "Table 4", "conditional independence",
        ".65 .35, .39 .47 .14, .14 .47 .39, .06 .37 .57",
        f"dc.posterior(release, table.small(), model='{PAIRS}').matrix()[rows]",
        [[0.648, 0.352, 0], [0.3932, 0.4695, 0.1374], [0.1374, 0.4695, 0.3932],
         [0.0578, 0.3687, 0.5735]],
        given=SMALL,
    ),
    Entry(
        "5.4", "guesses that are right under Table 4", "three of four",
        f'{BELIEVED} --model "{PAIRS}"', 3, pick="risk.right",
    ),
    Entry(
        "(10)", "the models that contain the release", "three",
        "[str(model) for model in dc.beliefs.hierarchical_models(release.formula)]",
        ["Race*Income + Gender*Income", "Gender*Race + Gender*Income + Race*Income",
         "Gender*Race*Income"],
        given=RELEASE,
    ),
    Entry(
        "5.4, Table 5", "weights from prior .22 .67 .11, and the average",
        ".18 .72 .10, then .62 .38, .44 .36 .20, .20 .36 .44, .15 .33 .52",
        "[*(m.weight for m in found.models), *found.matrix()[rows].ravel()]",
        [0.229, 0.665, 0.106, 0.588, 0.412, 0, 0.403, 0.344, 0.253, 0.253, 0.344, 0.403, 0.185,
         0.305, 0.510],
        given=f"{SMALL}\nmodels = ['Race*Income*Gender', '{INTERACT}', '{PAIRS}']\n"
        "found = dc.beliefs.average_posterior(release, table.small(), weights='paper', "
        "models=models, model_prior=[0.22, 0.67, 0.11])",
        within=0.008,
        note="printed from 500 draws; Table 5 is no mixture of Tables 2-4 by these weights",
    ),
    Entry(
        "5.4", "the prior probabilities of models from a file, the middle one's weight", ".72",
        f"{BELIEVED} --model average --weights paper --model-prior models.csv --error 0.01", 0.665,
        pick="models.1.weight", files={"models.csv": MODELS}, within=0.015,
    ),
    Entry(
        "section 6", "samples: a sample unique is unique in the population, fraction 0.1", "",
        f"{BELIEVED} --sampling-fraction 0.1", 0.03207,
        pick="cells.0.population.unique_if_sample_unique", within=5e-6,
        note="beta-binomial(6678; 1.5, 749.5) at 0",
    ),
    Entry(
        "section 6", "risk goes down with the sampling fraction: 1, .5, .1, .01", "",
        "[dc.posterior(release, table.small(), fraction=f).uniques[0] for f in (1, .5, .1, .01)]",
        [1.0, 0.35631, 0.03207, 0.00102], given=RELEASE, within=1e-5,
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

ENTRIES: list[Entry] = [*FRAMEWORK, *TABLES, *DISCUSSION]
