"""Lambert 1993, sections 3 to 5: identification."""

from register.entry import Entry

E2 = "7.38905609893065"  # e^2
TWO = f"who,median\ntarget,1\nother,{E2}\n"
MEDIAN = '[keys.value]\nkind = "lognormal"\ncenter = "median"\nspread = 1\n'
BOTH = {"people.csv": TWO, "masked.csv": "value\n7\n20\n", "who.toml": MEDIAN}
ONE = BOTH | {"masked.csv": "value\n7\n"}
FIRMS = {
    "people.csv": "sort,expected\nnew,0\nold,0\n",
    "masked.csv": "value\n-2.25\n",
    "who.toml": '[keys.value]\nkind = "own"\ncolumn = "sort"\n'
    '[keys.value.of.new]\nkind = "uniform"\ncenter = "expected"\nspread = 4\n'
    '[keys.value.of.old]\nkind = "normal"\ncenter = "expected"\nspread = 1\n',
}
TEN = [0.05, 0.14, 1.5, 2.4, 3.2, 3.8, 4.6, 8.7, 10.3, 10.7]
HUNDRED = {
    "people.csv": "id,median\n1,1\n" + "".join(f"{k},{E2}\n" for k in range(2, 101)),
    "masked.csv": "id,value\n" + "".join(f"{k},{x}\n" for k, x in enumerate(TEN, 1)),
    "who.toml": MEDIAN,
}
VALUES = [9.8, 10.8, 14.1, 14.6, 14.7, 15.0, 30.0, 40.7, 47.1, 53.2]
TABLE = {
    "people.csv": "id,value\n" + "".join(f"{k},{y}\n" for k, y in enumerate(VALUES, 1)),
    "masked.csv": "id,value\n6,32\n7,35\n",
    "who.toml": '[keys.value]\nkind = "lognormal"\nspread = 0.5\n',
}
IDENTIFY = "discreet identify --source people.csv --released masked.csv --intruder who.toml"
ALL = f"{IDENTIFY} --records"
KNOWN = f"{IDENTIFY} --id id"

SAMPLED = """x = np.array([0.05, 0.14, 1.5, 2.4, 3.2, 3.8, 4.6, 8.7, 10.3, 10.7])
r = np.exp(-np.log(x) ** 2 / 2 + (np.log(x) - 2) ** 2 / 2)
p = dc.linkage.exchangeable_links(r, 100)"""
CHANCE = """x = np.exp(np.random.default_rng(1).normal(2, 1, (50_000, 10)))
r = np.exp(-np.log(x) ** 2 / 2 + (np.log(x) - 2) ** 2 / 2)
p = dc.linkage.exchangeable_links(r, 100).max(1)"""
PRINTED = """y = np.array([9.8, 10.8, 14.1, 14.6, 14.7, 15.0, 30.0, 40.7, 47.1, 53.2])
f = lambda x: np.exp(-np.log(x / y) ** 2 / 0.5)
p = dc.linkage.exact_links(np.column_stack([f(32), f(35)]))"""
ALIKE = "p = dc.linkage.exact_links([[1.0, 2.0]] * 7)"
PAIR = "p = dc.linkage.exact_links([[9.0, 1.0], [9.0, 1.0], [1.0, 1.0]])"
TWIN = "p = dc.linkage.exact_links([[9.0, 9.0], [1.0, 1.0], [2.0, 2.0]])"
MANY = """people = {"value": [1.0, 4.0, 9.0]}
masked = {"value": [3.0, 8.0]}
def found(spread):
    import pandas as pd
    one = dc.linkage.Intruder.of({"keys": {"value": {"kind": "normal", "spread": spread}}})
    files = pd.DataFrame(people), pd.DataFrame(masked)
    return dc.identify(dc.linkage.read_records(*files, one, records=True), one)
all = dc.linkage.several([found(1), found(4)])"""

RISK: list[Entry] = [
    Entry("section 3", "risk of a file: the most easily identified respondent", "",
          ALL, 0.8909, pick="perceived.pessimistic", files=BOTH),
    Entry("section 3", "risk of a file: the average, and the sum", "",
          "(all.found[0].perceived.average * 3 - all.found[0].perceived.total)", 0.0, given=MANY),
    Entry("section 3", "risk of a file: respondents above a threshold", "",
          f"{ALL} --act 0.15", 1, pick="perceived.above", files=ONE,
          note="D_tau has a stray sum sign"),
    Entry("section 3", "several intruders: the worst, and the bounds of any", "",
          'bool((all.perceived["worst"] <= all.perceived["any"]).all() and '
          '(all.perceived["any"] <= all.perceived["any_at_most"]).all())', True, given=MANY),
    Entry("4.1", "7 and 20 released: 7 is the target's", "0.89",
          ALL, 0.8909, pick="perceived.most_exposed.0.probability", files=BOTH),
    Entry("4.1", "pessimistic risk of both", "0.89",
          ALL, 0.8909, pick="perceived.pessimistic", files=BOTH),
    Entry("4.1", "only 7 released: it is the target's", "0.13",
          ALL, 0.1310, pick="perceived.most_exposed.1.probability", files=ONE),
    Entry("4.1", "pessimistic risk of the one record", "0.87",
          ALL, 0.8690, pick="perceived.pessimistic", files=ONE),
    Entry("4.1", "a class of intruders who pose little risk: so many times less precise", "",
          f"{ALL} --harmless 0.6", 2.2755, pick="harmless.times", files=BOTH, within=0.05),
    Entry("4.2, equation (1)", "who looks like nobody in particular: 1 / N", "1/N",
          "p", [[1 / 7, 1 / 7]] * 7, given=ALIKE),
    Entry("4.2.1", "two respondents who are alike: at most 1/2", "0.5",
          "p[:2].max() <= 0.5", True, given=PAIR),
    Entry("4.2.2", "two released records that are alike: at most 1/2", "0.5",
          "p.max() <= 0.5", True, given=TWIN),
    Entry("4.2.3", "the firm of which nothing is known", "0.80",
          ALL, 0.7975, pick="perceived.most_exposed.0.probability", files=FIRMS),
    Entry("4.2.4", "ten of 100: the target's links to .05 and .14, and the null link",
          "0.86, 0.11, 0.026", "[p[0], p[1], 1 - p.sum()]", [0.8619, 0.1099, 0.02625],
          given=SAMPLED, within=5e-5, note="with a masked log-deviation of 1"),
    Entry("4.2.4", "pessimistic risk", "0.86",
          KNOWN, 0.8619, pick="perceived.pessimistic", files=HUNDRED),
    Entry("4.2.4", "each of the other 8 records", "at most 0.001",
          "p[2:].max()", 0.0010, given=SAMPLED, within=5e-5),
    Entry("4.2.4", "risk of everybody else", "below 1/99",
          "((1 - p) / 99).max() < 1 / 99", True, given=SAMPLED),
    Entry("4.2.4", "the largest link by chance: its mean, 95% and 99%", "0.05, 0.19, 0.41",
          "[p.mean(), *np.quantile(p, [0.95, 0.99])]", [0.0543, 0.1929, 0.4019], given=CHANCE,
          within=0.02),
    Entry("section 5", "risk of true identification in 4.2.4, of respondents", "1/100",
          KNOWN, 0.01, pick="true.risk_of_respondents", files=HUNDRED, within=1e-9),
    Entry("Table 1", "the released record 32", "0.016, 0.024, 0.065, 0.072, 0.074, 0.078, 0.202, "
          "0.183, 0.156, 0.130", "p[:, 0]",
          [0.0157, 0.0242, 0.0650, 0.0722, 0.0737, 0.0781, 0.2024, 0.1817, 0.1564, 0.1305],
          given=PRINTED, note="(32, 40.7) is .1817, not .183"),
    Entry("Table 1", "the released record 35", "0.010, 0.017, 0.048, 0.054, 0.056, 0.059, 0.199, "
          "0.205, 0.188, 0.164", "p[:, 1]",
          [0.0103, 0.0165, 0.0483, 0.0542, 0.0555, 0.0592, 0.1994, 0.2054, 0.1876, 0.1636],
          given=PRINTED),
    Entry("section 5", "Table 1: 15.0 is linked rightly, but with", "0.078",
          KNOWN, 0.0781, pick="perceived.most_exposed.4.probability", files=TABLE),
    Entry("section 5", "Table 1: risk of true identification", "0",
          KNOWN, 0.0, pick="true.risk", files=TABLE,
          note="an intruder who acts on .078 identifies one"),
    Entry("section 5", "Table 1: the same, acting on every best link", "",
          f"{KNOWN} --act 0", 0.5, pick="true.risk", files=TABLE),
    Entry("section 5", "Table 1: risk of matching, absolute distance", "1/2",
          KNOWN, 0.5, pick="matching.risk", files=TABLE),
    Entry("section 5", "Table 1: risk of matching, squared distance", "",
          f"{KNOWN} --distance squared", 0.5, pick="matching.risk", files=TABLE),
    Entry("section 5", "Table 1: matching on the scale of the factor", "",
          f"{KNOWN} --distance log", 0.0, pick="matching.risk", files=TABLE),
    Entry("section 5", "Table 1: matching with weights", "",
          f"{KNOWN} --weight value=3", 0.5, pick="matching.risk", files=TABLE),
    Entry("section 5", "with replacement: how far from equation (1)", "",
          f"{KNOWN} --compare with-replacement", 0.0317, pick="with_replacement.largest",
          files=TABLE),
    Entry("section 5", "double exponential densities give absolute distance", "",
          "np.log(p[0, 0] / p[1, 0]) * 2 / np.sqrt(2)", 1.0,
          given="""import pandas as pd
one = dc.linkage.Intruder.of({"keys": {"v": {"kind": "laplace", "spread": 2}}})
files = pd.DataFrame({"v": [4.0, 1.0]}), pd.DataFrame({"v": [3.0]})
p = dc.linkage.link(dc.linkage.read_records(*files, one, records=True), one).dense()"""),
    Entry("section 5", "densities normal(y_i, Sigma_i), own spreads and correlations", "",
          "p", [[0.7258], [0.2742]],
          given="""import pandas as pd
key = {"kind": "normal", "spread": {"column": "s"}}
tie = {"keys": ["a", "b"], "value": {"column": "r"}}
one = dc.linkage.Intruder.of({"keys": {"a": key, "b": key}, "correlation": [tie]})
people = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 2.0], "s": [1.0, 2.0], "r": [0.5, -0.2]})
files = people, pd.DataFrame({"a": [1.0], "b": [1.0]})
p = dc.linkage.link(dc.linkage.read_records(*files, one, records=True), one).dense()""",
          note="the paper's ratio lacks |Sigma_i|^(-1/2)"),
]  # fmt: skip
