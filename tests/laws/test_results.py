"""Every result prints, frames, plots and writes itself in the same way."""

import re
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.look.pages import PAGES
from discreet.look.result import Paged, Result
from paged import check_outline, check_tags

MOST_LETTERS, MOST_ROWS = 200, 60
PEOPLE = pd.DataFrame(
    {
        "id": range(1, 25),
        "age": [20 + 3 * k % 41 for k in range(24)],
        "sex": ["f", "m", "m"] * 8,
        "town <b>": ["A", "A", "B", "C"] * 6,
        "ill": ["no", "no", "yes", "no", "yes", "no"] * 4,
        "home": [k // 2 for k in range(24)],
    }
)
KEYS = {"age": {"kind": "normal", "spread": 2}, "sex": {"kind": "category", "keep": 0.9}}
COSTS = {"FN": 1, "TN": 2, "FF": 10, "FT": 6, "TF": 8, "TT": 5}


def classes(kind=Result):
    """Every class of results, in whatever module."""
    for module in walk_packages(discreet.__path__, "discreet."):
        if not module.name.startswith(("discreet.server", "discreet.__main__")):
            import_module(module.name)
    found, left = set(), [kind]
    while left:
        for each in left.pop().__subclasses__():
            found.add(each)
            left.append(each)
    return found - {Paged}


@cache
def made():
    """One of each, by the name of its class."""
    every = (
        *_believed(),
        *_tables(),
        *_files(),
        *_survey(),
        *_office(),
        *_masks(),
        *_synthetic(),
        *_worth(),
    )
    return {type(result).__name__: result for result in every}


def _believed():
    from discreet.intruder.belief.valued import Piece, Valued
    from discreet.intruder.predictive.elicit import elicit_shares
    from discreet.intruder.predictive.quantiles import elicit_quantiles

    yield Valued.of([(0.75, Piece(10, 20)), (0.25, Piece(20, 40))])
    yield elicit_shares({"ill <b>": 0.2, "well": 0.8}, worth=20)
    yield elicit_quantiles({0.1: 2, 0.9: 5}, "gamma")


def _tables():
    from discreet.decision.frontier.decomposable import decomposable_frontier
    from discreet.decision.frontier.frontier import frontier
    from discreet.decision.frontier.tradeoff import tradeoff
    from discreet.decision.frontier.widths import widths
    from discreet.decision.law.assess import assess
    from discreet.decision.together.together import together
    from discreet.decision.together.told import Told
    from discreet.decision.users.choose import choose
    from discreet.decision.users.measures import tightness
    from discreet.decision.users.targets import cell_targets
    from discreet.decision.users.users import User
    from discreet.intruder.bounds.bounder import bounds
    from discreet.intruder.posterior.average.sensitivity import prior_sensitivity
    from discreet.intruder.posterior.chains.augment import augment_posterior
    from discreet.intruder.posterior.chains.basis import markov_basis
    from discreet.intruder.posterior.chains.convergence import judge
    from discreet.intruder.posterior.posterior import posterior
    from discreet.intruder.refusals.refusals import refusal_posterior
    from discreet.intruder.tables.count import count
    from discreet.models.select import fitting_model
    from discreet.release.release import Release
    from discreet.report.compare import diff
    from discreet.risk.knowledge.alphas import alpha_classes
    from discreet.risk.knowledge.ask import knowledge
    from discreet.risk.knowledge.dominance import p_rule
    from discreet.risk.knowledge.hiding import withheld
    from discreet.risk.knowledge.ruled import with_rules
    from discreet.risk.knowledge.taught import Totals
    from discreet.risk.release.believed_counts import BeliefRisk
    from discreet.table.load import load
    from discreet.table.table import Table
    from discreet.utility.requests import Requests

    tract, czech = load("example:tract"), load("example:czech")
    release = Release.margins(tract, "Race*Income + Income*Gender")
    believed = posterior(release, tract.small())
    found = assess(tract, "Race*Income + Income*Gender")
    critical, best = widths(czech, max_order=2), fitting_model(tract)
    yield from (tract, tract.small(), found, found.decision, bounds(release, tract.small()))
    yield from (believed, believed[0], BeliefRisk(tract, tract.small(), believed))
    yield posterior(release, tract.small(), model="average")
    yield posterior(release, tract.small(), fraction=0.5)
    yield augment_posterior(release, "Race*Income + Income*Gender", chains=64, standard_error=0.05)
    yield prior_sensitivity(release, tract.small(), model="saturated")
    yield from (count(release), critical, critical.scores(), frontier(tract, beta=3))
    yield from (tradeoff(tract, [3], methods=["greedy"]), decomposable_frontier(tract, restarts=1))
    yield from (diff(found, assess(tract, "Race")), best, best.fit)
    yield Requests.of({"Ann": {"Race": 1}}, tract.names)
    yield knowledge(load("example:estates"), target="Estate", group="Region", limit=0.25)
    yield withheld({"a": 3, "b <i>": 1, "c": 4}, merge={"ab": ["a", "b <i>"]}, limit=0.2)
    estates = Totals("estates", 507.862, 11, minimum=10)
    totals = knowledge(estates, limit=0.25, prior=1.2765)
    yield with_rules(totals, [estates], [[200, 150]], [p_rule(0.1)])
    yield alpha_classes(totals.rule, 507.862, 11, 10, among=(1, 2))
    masks = [Release.margins(tract, formula) for formula in ("Race + Income", "Race*Income")]
    yield choose(masks, risk=tightness(tract), limit=-2)
    yield markov_basis(Release.margins(tract, "Race*Income + Income*Gender"))
    by_two = tract.margin("Race*Income")
    yield together(by_two, [Told.of_margin(by_two, "Race*Income", by_two.dense())])
    targets = cell_targets(tract, tract.small(), "uniform")
    guesser = User.of("a guesser", targets, loss="zero-one", threshold=0.6, cost=lambda *_: 1.0)
    yield guesser.outlook(release)
    square = Release.margins(Table.of([[1, 1], [1, 1]], A=[0, 1], B=[0, 1]), "A + B")
    yield refusal_posterior(square, "A*B", lambda table, request: 1 in table.counts)
    draws = np.random.default_rng(1).poisson(2, (4, 500, 3))
    yield judge(draws, requested=None, accepted=0.5, moves=10, seconds=1.0)


def _files():
    from discreet.intruder.linkage.model import Intruder
    from discreet.intruder.linkage.records import read_records
    from discreet.risk.linkage.calibration import calibration
    from discreet.risk.linkage.harm import Costs, Normal, NumberLoss, expected_harm, harm
    from discreet.risk.linkage.harmless import harmless
    from discreet.risk.linkage.identification import identify
    from discreet.risk.linkage.matching import matching
    from discreet.risk.linkage.replacement import with_replacement
    from discreet.risk.linkage.several import several
    from discreet.risk.uniques.uniques import uniques
    from discreet.table.described import describe

    yield describe(PEOPLE)
    intruder = Intruder.of({"keys": KEYS})
    costs = Costs.of({"sensitive": "ill", "group": ["town <b>"], "costs": COSTS})
    records = read_records(
        PEOPLE, PEOPLE[::2], intruder, id="id", also=("ill",), groups=costs.groups
    )
    found = identify(records, intruder, act=0.3)
    yield from (found, found.links, harm(records, found, costs))
    yield expected_harm(Normal(100, 20), NumberLoss("squared"), truth=110)
    yield matching(records, intruder, found.data)
    yield from (with_replacement(found, intruder), several([found, found], names=["a", "b <i>"]))
    yield calibration(records, intruder, files=2)
    yield harmless(records, intruder, limit=0.5)
    alike = uniques(PEOPLE, "sex,age,town <b>", population=240, sensitive="ill", household="home")
    yield from (alike, alike.anonymity, alike.risk, alike.special, alike.population)
    yield from (alike.diversity, alike.households)


def _survey():
    from discreet.decision.survey.combine import combine
    from discreet.decision.survey.edges import edges
    from discreet.decision.survey.flips import flips
    from discreet.decision.survey.plugin import plug_in
    from discreet.decision.survey.publish import publish
    from discreet.decision.survey.taylor import taylor
    from discreet.decision.survey.totals import guard_totals
    from discreet.intruder.population.population import population_beliefs
    from discreet.models.domain_shares import fit_beta
    from discreet.models.subclasses import fit_subclasses
    from discreet.table.table import Table

    n, N, y = [3, 3, 5, 9, 12], [8, 8, 20, 90, 40], [1, 2, 1, 0, 4]
    found = publish(n, N, y, alpha=1, beta=10, ratio=0.75)
    yield from (found, found.curve(), found.counts, plug_in(found), combine(found))
    kinds = fit_subclasses([3, 2, 1])
    yield from (taylor(found), edges(found.at(risk=0.5)), guard_totals(found, {"all": None}))
    yield from (kinds, flips(found, subclasses=kinds))
    yield fit_beta([1, 2, 1, 0, 4, 9], [30, 30, 50, 9, 20, 30])
    table = Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3))
    yield population_beliefs(table, fraction=0.5, model="A + B")


def _office():
    from discreet.decision.batch.judge import judge_batch
    from discreet.decision.batch.masking import mask
    from discreet.report.checked import check, values_from
    from discreet.sheets.reading import formula_sheets
    from discreet.table.load import load

    records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    masked = mask(records, sheets)
    yield from (judge_batch(records, sheets), masked)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "release"
        masked.write(out)
        (out / "notes <b>.txt").write_text("draft", encoding="utf-8")  # a finding
        yield check(out, records.variables, values_from(records))


def _masks():
    from discreet.decision.compare.compare import compare
    from discreet.masks.records.file import RecordFile
    from discreet.masks.records.registry import mask_of
    from discreet.risk.linkage.disclosed import disclosed
    from discreet.risk.linkage.identification import identify

    file = RecordFile(PEOPLE)
    masked = mask_of("noise", {"columns": "age", "spread": 0.2}).apply(
        file, np.random.default_rng(1)
    )
    yield masked
    yield mask_of("recode", {"columns": ["sex", "town <b>"], "k": 4}).search(file)
    keys = ["age", "town <b>"]
    yield disclosed(identify(masked.linked_with(file, keys), masked.intruder(keys)))
    plan = {
        "keys": keys,
        "sensitive": ["ill"],
        "users": [{"name": "doctor <b>", "columns": ["ill"], "least": 0.5}],
        "masks": [
            {"name": "some <b>", "method": "sample", "share": 0.5},
            {"method": "noise", "columns": "age", "spread": 0.2},
            {"name": "none <b>", "method": "recode", "columns": "sex", "k": 500},
        ],
    }
    yield compare(PEOPLE, plan, records=True, without=["id", "home"])


def _synthetic():
    from discreet.masks.synthesis.attribute import attribute_risk
    from discreet.masks.synthesis.combine import combine_copies
    from discreet.masks.synthesis.private import private_table
    from discreet.masks.synthesis.reproduced import reproduced
    from discreet.masks.synthesis.synthesise import synthesise
    from discreet.models.decomposed import LogLinearCells
    from discreet.models.latent import LatentClasses
    from discreet.models.membership import GradeOfMembership
    from discreet.table.load import load

    tract = load("example:tract")
    rng = np.random.default_rng(1)
    made = synthesise(tract, LogLinearCells.fit(tract, "Race*Income + Gender"), copies=2, rng=rng)
    yield from (made, combine_copies([1, 2, 3], [0.2, 0.2, 0.3]))
    yield from (attribute_risk(tract, made, "Race", draws=2), reproduced(tract, made, draws=2))
    yield private_table(tract, 1, rng=rng)
    yield LatentClasses.fit(tract, 2, rng=rng, starts=1, iterations=20)
    yield GradeOfMembership.fit(tract, 2, rng=rng, chains=2, warmup=5, climb=10, draws=4)


def _worth():
    from discreet.table.load import load
    from discreet.utility.close import models_close
    from discreet.utility.distances import by_order
    from discreet.utility.kept import margins_kept
    from discreet.utility.moments import moments
    from discreet.utility.overlap import estimates
    from discreet.utility.propensity import pmse
    from discreet.utility.regression import mean
    from discreet.utility.summary import worth
    from discreet.utility.target import target_loss

    tract = load("example:tract")
    even = np.ones(tract.shape)
    noisy = PEOPLE.assign(age=PEOPLE["age"] + 1)
    yield from (by_order(tract, even), margins_kept(tract, even))
    yield models_close(tract, even, "Race*Income")
    yield pmse(PEOPLE, noisy, columns=["age", "town <b>"])
    yield estimates(PEOPLE, noisy, [mean("age")])
    yield moments(PEOPLE, noisy, ["age", "home"])
    yield target_loss(PEOPLE, noisy, lambda frame: frame["age"].mean())
    yield worth(PEOPLE, noisy, categories=["sex"], numbers=["age"])


NAMES = sorted(each.__name__ for each in classes())


def test_there_is_one_of_each():
    assert sorted(made()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_its_repr_is_one_line(name):
    said = repr(made()[name])
    assert "\n" not in said
    assert said.partition("(")[0] in {kind.__name__ for kind in type(made()[name]).__mro__}
    assert len(said) <= MOST_LETTERS


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_its_first_rows(name):
    source = made()[name]._repr_html_()
    check_tags(source)
    assert 1 <= source.count("<tr") + source.count("<li") <= MOST_ROWS
    assert "<b>" not in source


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_frame_of_pandas_and_of_polars(name):
    polars = pytest.importorskip("polars")
    one, other = made()[name].to_frame(), made()[name].to_frame("polars")
    assert isinstance(one, pd.DataFrame)
    assert isinstance(other, polars.DataFrame)
    assert list(one.columns) == other.columns
    assert len(one) == len(other) > 0
    with pytest.raises(discreet.DisclosureError, match="frame"):
        made()[name].to_frame("excel")


# charts of margins that are released, or of what is believed without the data
OPEN = {"DecomposableFrontier", "ElicitedPrior", "FittedPrior", "Frontier", "Tradeoff"}


@pytest.mark.parametrize("name", sorted(c.__name__ for c in classes() if hasattr(c, "plot")))
def test_it_draws_itself(name, tmp_path):
    """What is drawn from unpublished counts says that it is confidential."""
    plot = made()[name].plot
    needed = {"row": 0} if "row" in signature(plot).parameters else {}
    for width in (340, 660):
        chart = plot(**needed, width=width)
        chart.save(tmp_path / "chart.svg")
        drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert drawn.startswith("<svg")
        assert ("Confidential" in drawn) == (name not in OPEN)
        assert chart.description


@pytest.mark.parametrize("name", sorted(each.__name__ for each in classes(Paged)))
def test_it_writes_its_page(name, tmp_path):
    path = tmp_path / "page.html"
    made()[name].to_html(path)
    source = path.read_text(encoding="utf-8")
    check_tags(source)
    check_outline(source)
    for word in ("http:", "https:", "@import", "src=", "<script", "<link", "<img", "<b>"):
        assert word not in source
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)', source))
    with pytest.raises(discreet.DisclosureError, match="nowhere"):
        made()[name].to_html(tmp_path / "nowhere" / "page.html")


def test_what_has_a_page_is_registered():
    kinds = [{each.__name__ for each in kind.__mro__} for kind in classes(Paged)]
    assert all(names & {*PAGES} for names in kinds)
    assert {*PAGES} <= set().union(*kinds)
    for address in PAGES.values():
        module, _, name = address.partition(":")
        assert callable(getattr(import_module(module), name))


def test_what_has_no_page_says_which_have():
    from discreet.look.pages import page_of

    with pytest.raises(discreet.DisclosureError, match="no page of a int; there are pages of Ass"):
        page_of(3)
