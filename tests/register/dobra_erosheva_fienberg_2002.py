"""Dobra, Erosheva & Fienberg 2002, in the paper's order."""

from register.entry import Entry

NAMES = [
    "eating", "bed", "inside", "dressing", "bathing", "toilet", "heavy_housework",
    "light_housework", "laundry", "cooking", "grocery", "outside", "travel", "money", "medicine",
    "telephone",
]  # fmt: skip
BETA_3 = (
    "5 10 12 13 14 15 16, 5 10 11 14 15 16, 9 10 12 13 14 15, 6 10 12 13 15 16, 4 10 12 13 14 15, "
    "4 8 10 12 13 14, 3 4 12 13 14 15, 3 4 7 12 13 15, 2 12 13 14 15 16, 1 9 12 13 14 15"
)
BETA_4 = (
    "6 9 12 13 15 16, 6 8 12 13 15 16, 2 6 8 12 13 15, 2 6 11 12 13 15, 2 4 6 11 12 13, "
    "2 4 11 12 13 14, 2 4 6 10 12 13, 2 4 5 10 12 13, 2 3 6 8 12 13, 1 8 12 13 15 16, 2 4 6 7 11"
)
BETA_5 = (
    "6 8 10 14 15 16, 4 6 8 10 14 15, 15 14 8 6 4 3, 3 4 6 8 13 15, 3 4 6 12 14 15, 3 4 6 9 13 15, "
    "2 4 6 8 13 15, 2 4 8 11 13 15, 3 4 6 7 14, 4 5 6 12 14, 1 4 6 14 15"
)


def formula(margins: str, names: list[str] = NAMES) -> str:
    """A frontier as it is printed, as a release formula."""
    terms = [[names[int(place) - 1] for place in term.split()] for term in margins.split(", ")]
    return " + ".join("*".join(term) for term in terms)


def frontier(number: str, beta: int, margins: str, printed: str, by_order: list[int]) -> Entry:
    """Tables 1.1 to 1.3: no data are needed to count."""
    text = formula(margins, list(map(str, range(1, 17))))
    return Entry(
        f"(1.{beta + 2}), Table 1.{beta - 2}",
        f"frontier {number}: margins released by dimension, and in all",
        printed,
        "[release.is_decomposable, *release.by_order().values(), len(release.closure())]",
        [True, *by_order, sum(by_order)],
        given=f"release = dc.Formula.parse('{text}', map(str, range(1, 17)))",
        note="variables 13 and 12, printed twice in two margins, are dropped" if beta == 5 else "",
    )


def width(number: str, beta: int, margins: str) -> Entry:
    return Entry(
        f"(1.{beta + 2})",
        f"frontier {number}: the narrowest width of a count of 1 or 2",
        f"at least {beta}",
        f"discreet bounds example:nltcs --release @frontier-{beta}.txt",
        beta,
        pick="narrowest",
        files={f"frontier-{beta}.txt": formula(margins)},
        nltcs=True,
    )


WIDTHS = (
    "widths = dc.widths(dc.load('example:nltcs'))\n"
    "margins = lambda n: dc.Formula(widths.names, tuple(widths.ordered()[:n])).frontier\n"
    "of = lambda *numbers: widths.of([widths.names[p - 1] for p in numbers])"
)


def greedy(beta: int, cut: int, places: str, printed: str, right: list[int], note: str) -> Entry:
    """Tables 1.4 to 1.9: the list, cut where the paper cuts it, and what that releases."""
    return Entry(
        places,
        f"the greedy list for beta {beta} cut after {cut:,}: released, maximal, maximal of "
        "dimension 3 to 6, released of dimension 1 to 6",
        printed,
        f"[len(margins({cut}).closure()), len(margins({cut})), *(sum(len(m) == d for m in "
        f"margins({cut}).margins) for d in (3, 4, 5, 6)), *margins({cut}).by_order().values()]",
        right,
        given=WIDTHS,
        note=note,
        nltcs=True,
    )


ENTRIES: list[Entry] = [
    Entry(
        "section 1.1",
        "release margins that hold the minimal sufficient statistics of a model that fits",
        "",
        "discreet frontier example:tract --beta 3 --first fit",
        [["Gender", "Income"], ["Race"]],
        pick="model.margins",
        note="both are released",
    ),
    Entry(
        "section 1.2",
        "empty cells, counts of 1, counts of 2, the largest count",
        "62,384, 1,729, 499, 3,853",
        "[table.size - len(table), *((table.counts == n).sum() for n in (1, 2)), "
        "table.counts.max()]",
        [62_384, 1_729, 499, 3_853],
        given="table = dc.load('example:nltcs')",
        nltcs=True,
    ),
    Entry(
        "section 1.2",
        "the grade of membership model, two profiles, fitted to the Czech table: log-likelihood",
        "",
        "model.log_likelihood",
        -6698.5,
        given="table, rng = dc.load('example:czech'), np.random.default_rng(1)\n"
        "fit = dc.synthetic.GradeOfMembership.fit\n"
        "model = fit(table, 2, rng=rng, chains=2, warmup=20, draws=4)",
        within=0.01,
    ),
    Entry(
        "(1.1)",
        "Fréchet bounds of a 2 x 2 table with rows 5, 5 and columns 6, 4",
        "max(0, n_i+ + n_+j - n), min(n_i+, n_+j)",
        "[found.lower, found.upper]",
        [[1, 0, 1, 0], [5, 4, 5, 4]],
        given="found = dc.bounds(dc.Table.of([[4, 1], [2, 3]], A=[0, 1], B=[0, 1]), 'A + B')",
    ),
    Entry(
        "Figure 1.1",
        "[BF], [ABCE], [ADE]: decomposable, and its separators",
        "decomposable",
        "[release.is_decomposable, *map('*'.join, release.separators)]",
        [True, "A*E", "B"],
        given="release = dc.Formula.parse('B*F + A*B*C*E + A*D*E', 'ABCDEF')",
    ),
    Entry(
        "Theorem 1",
        "bounds of a decomposable release",
        "min of the margins, sum less the separators",
        "discreet bounds example:tract --release 'Race*Income + Income*Gender'",
        "closed form",
        pick="method",
    ),
    Entry(
        "Theorem 2",
        "bounds of a reducible release, by its parts",
        "",
        "dc.bounds(dc.load('example:czech'), 'A*B + B*C + A*C + C*D + E + F').method",
        "reducible, linear",
    ),
    Entry(
        "section 1.3",
        "the generalised shuttle: bounds of the small counts of the tract table",
        "",
        "shuttle.bounds(table.names, table.small().codes)",
        [[0, 0, 0, 0], [1, 2, 2, 2]],
        given="table = dc.load('example:tract')\n"
        "release = dc.Release.margins(table, 'Race*Income + Income*Gender')\n"
        "shuttle = dc.frontiers.Shuttle(release)",
    ),
    Entry(
        "(1.2)",
        "released, possible and unreleasable margins of the tract table, one-way margins out",
        "R, M, U",
        "[sum(by_order.values()) for by_order in desk.space.counts().values()]",
        [3, 1, 3],
        given="policy = dc.Policy.of({'server.rule': 'myopic'})\n"
        "desk = dc.server.Desk(dc.load('example:tract'), policy)",
    ),
    Entry(
        "section 1.4",
        "one-time releases: the set of most margins, found offline",
        "",
        "discreet frontier example:tract --beta 3",
        [["Gender", "Income"], ["Race"]],
        pick="frontier",
    ),
    Entry(
        "(1.3), (1.4)",
        "annealing over decomposable releases of the Czech table: margins, and the most there are",
        "",
        "[found.released, found.at_most]",
        [47, 47],
        given="czech = dc.load('example:czech')\n"
        "found = dc.frontiers.decomposable_frontier(czech, beta=3, restarts=1)",
    ),
    frontier("for beta 3", 3, BETA_3, "415", [16, 66, 125, 125, 66, 16, 1]),
    frontier("for beta 4", 4, BETA_4, "367", [16, 64, 116, 109, 52, 10]),
    frontier("for beta 5", 5, BETA_5, "335", [16, 62, 108, 97, 44, 8]),
    width("for beta 3", 3, BETA_3),
    width("for beta 4", 4, BETA_4),
    width("for beta 5", 5, BETA_5),
    Entry(
        "Definition 1.1",
        "the most parsimonious model of [1,2,3] in six variables is decomposable",
        "[1,2,3], [4], [5], [6]",
        "dc.Formula.parse('1*2*3 + 4 + 5 + 6', '123456').is_decomposable",
        True,
        note="the paper says [1,2]",
    ),
    Entry(
        "Definition 1.2",
        "critical width of Gender*Income in the tract table",
        "",
        "dc.widths(dc.load('example:tract')).of(['Gender', 'Income'])",
        5,
    ),
    Entry(
        "section 1.5",
        "critical widths: every one-way, every eight-way; [7,8], [1,7], [1,5]; [7,8,12], "
        "[7,8,10], [1,7,8]; four-way margins of width 1",
        "2,285, 1; 8, 64, 82; 3, 3, 3; 36",
        "[*set(widths.width[widths.order == 1]), *set(widths.width[widths.order == 8]), "
        "of(7, 8), of(1, 7), of(1, 5), of(7, 8, 12), of(7, 8, 10), of(1, 7, 8), "
        "(widths.width[widths.order == 4] == 1).sum()]",
        [2_285, 1, 8, 64, 82, 1, 1, 1, 76],
        given=WIDTHS,
        note="each of the three has a cell with a single person",
        nltcs=True,
    ),
    Entry(
        "Figure 1.2",
        "median critical width of margins of dimension 2 to 7",
        "boxplots",
        "[np.median(widths.width[widths.order == d]) for d in range(2, 8)]",
        [968, 180, 30, 5, 1, 1],
        given=WIDTHS,
        nltcs=True,
    ),
    greedy(
        3,
        4011,
        "Tables 1.4, 1.5",
        "4,011; 1,677: 0, 263, 1,311, 103; 16, 120, 547, 1,566, 1,659, 103",
        [4_014, 1_679, 2, 263, 1_311, 103, 16, 120, 547, 1_569, 1_659, 103],
        "closed under sub-margins; 103 of 8,008 is 1.29%, not 3.78%",
    ),
    greedy(
        4,
        3663,
        "Tables 1.6, 1.7",
        "3,663; 1,569: 0, 338, 1,176, 55; 16, 119, 546, 1,531, 1,396, 55",
        [3_663, 1_570, 1, 338, 1_176, 55, 16, 119, 546, 1_531, 1_396, 55],
        "one maximal margin has three variables",
    ),
    greedy(
        5,
        3366,
        "Tables 1.8, 1.9",
        "3,366; 1,537: 5, 405, 1,110, 17; 16, 119, 545, 1,480, 1,189, 17",
        [3_366, 1_537, 5, 405, 1_110, 17, 16, 119, 545, 1_480, 1_189, 17],
        "",
    ),
    Entry(
        "section 1.5",
        "the greedy search on the command line, on the tract table",
        "",
        "discreet frontier example:tract --beta 3 --method greedy",
        {"1": 3, "2": 1},
        pick="by_order",
    ),
    Entry(
        "section 1.5",
        "sufficient statistics at the top of the list",
        "",
        "discreet frontier example:tract --beta 3 --method greedy --first Gender*Income",
        [["Gender", "Income"], ["Race"]],
        pick="frontier",
    ),
    Entry(
        "section 1.6.1, Figure 1.3",
        "(1.5): cells that are not empty, the sum of their widths, lower bounds above 0, "
        "upper bounds of 3, 4, 5, 6",
        "345,534; 1; 11, 36, 27, 55",
        "[*list(found.summary().values())[:3], *(found.summary()['upper'][n] for n in '3456')]",
        [3_152, 345_534, 1, 11, 36, 27, 55],
        given="table = dc.load('example:nltcs')\n"
        f"release = dc.Release.margins(table, '{formula(BETA_3)}')\n"
        "found = dc.bounds(release, table.nonzero())",
        nltcs=True,
    ),
    Entry(
        "section 1.6.1",
        "(1.5): the lower bound of the all healthy",
        "667",
        "discreet bounds example:nltcs --release @frontier-3.txt --cells nonzero",
        667,
        pick="cells.0.lower",
        files={"frontier-3.txt": formula(BETA_3)},
        nltcs=True,
    ),
    Entry(
        "Figures 1.4, 1.5",
        "(1.5): lower bounds above 0 at counts of 1 or 2",
        "0",
        "discreet bounds example:nltcs --release @frontier-3.txt",
        0,
        pick="summary.lower_above_0",
        files={"frontier-3.txt": formula(BETA_3)},
        nltcs=True,
    ),
    Entry(
        "section 1.6.2, Figures 1.6 to 1.8",
        "the greedy set for beta 3: sum of widths, of cells that are not empty, lower bounds from "
        "1 on, of these at counts of 1 or 2, empty cells that are known to be, counts of 1 with "
        "width 3, of 2 with width 4",
        "249,759 (of these); 22; 0; 24,148; 14; 2",
        "[width.sum(), width[counts > 0].sum(), (lower > 0).sum(), "
        "(lower[(counts > 0) & (counts < 3)] > 0).sum(), ((counts == 0) & (upper == 0)).sum(), "
        "((counts == 1) & (width == 3)).sum(), ((counts == 2) & (width == 4)).sum()]",
        [249_759, 54_561, 22, 0, 24_148, 14, 2],
        given="table = dc.load('example:nltcs')\n"
        "top = dc.Formula(table.names, tuple(dc.widths(table).ordered()[:4011])).frontier\n"
        "shuttle = dc.frontiers.Shuttle(dc.Release.margins(table, top))\n"
        "lower, upper = shuttle.bounds(table.names, table.all().codes)\n"
        "counts, width = table.all().counts, upper - lower",
        note="249,759 is over all cells, and the 24,148 are empty",
        nltcs=True,
    ),
    Entry(
        "Table 1.10",
        "disclosure scores, the most problematic variable first",
        "1.82, 1.88; 2.84, 2.91, 3.01, 3.15, 3.17, 3.23, 3.24, 3.26; 3.37, 3.39, 3.52, 3.66, "
        "3.74, 3.85",
        "[round(score, 2) for score in widths.scores().to_json().values()]",
        [
            1.82, 1.88, 2.84, 2.91, 3.01, 3.15, 3.17, 3.23, 3.24, 3.26, 3.37, 3.39, 3.52, 3.66,
            3.74, 3.85,
        ],
        given=WIDTHS,
        note="each variable is in 32,768 margins",
        nltcs=True,
    ),
    Entry(
        "Table 1.10",
        "how many variables its three groups have",
        "2, 8, 6",
        "[len(group) for group in widths.scores().groups()]",
        [2, 8, 6],
        given=WIDTHS,
        nltcs=True,
    ),
    Entry(
        "section 1.7",
        "very large cells may need to be part of any release: those of 100 or more, and what is "
        "then known of the others",
        "",
        "discreet bounds example:tract --release 'Race*Income + Gender' --large 100",
        99,
        pick="large.ceiling",
    ),
    Entry(
        "section 1.7",
        "(1.5) beside the two counts of 1,000 or more: the narrowest width of a small count",
        "",
        "discreet bounds example:nltcs --release @frontier-3.txt --large 1000",
        3,
        pick="narrowest",
        files={"frontier-3.txt": formula(BETA_3)},
        nltcs=True,
    ),
    Entry(
        "section 1.7",
        "the most margins of the tract table beside its counts of 100 or more",
        "",
        "discreet frontier example:tract --beta 3 --large 100",
        4,
        pick="released",
    ),
]  # fmt: skip
