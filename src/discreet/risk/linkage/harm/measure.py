"""What the links that an intruder acts on cost each respondent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.errors import DataError
from discreet.intruder.linkage.records import Records, texts
from discreet.risk.linkage.harm.category import harm_of_category
from discreet.risk.linkage.harm.costs import Costs
from discreet.risk.linkage.harm.felt import Harm
from discreet.risk.linkage.harm.number import harm_of_number
from discreet.risk.linkage.identification import Identification


def harm(records: Records, found: Identification, costs: Costs) -> Harm:
    """What the links that the intruder acts on cost each respondent.

    Of released records that tie, the first is taken. Of a number the cost is expected over what is
    believed of it.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62], "ill": ["no", "yes", "no"]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, people, intruder, id="id", also=["ill"])
    >>> costs = dc.linkage.Costs("ill", {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10})
    >>> dc.linkage.harm(records, dc.identify(records, intruder), costs)
    Harm(30 to 3 respondents)
    """
    if records.parents is None:
        raise DataError("harm needs to know which links are true; name the id column (--id).")
    best = np.where(found.linked, found.links.best, -1)
    right = (best >= 0) & (records.parents[best] == np.arange(records.sources))
    groups = {name: texts(records.source[name]) for name in costs.groups}
    of = harm_of_category if costs.function is None else harm_of_number
    felt = of(records, found, costs, best, right, groups)
    if found.rough is None:
        return felt
    again = of(records, found.rough, costs, best, right, groups)  # the same links are acted on
    return replace(felt, rough=again.harm)
