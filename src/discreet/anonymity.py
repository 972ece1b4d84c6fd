"""Who stands out in a file of records: k-anonymity, diversity, special and population uniques."""

from discreet.risk.uniques.anonymity import Diversity, KAnonymity, diversity, k_anonymity
from discreet.risk.uniques.classes import KeyClasses, MissingKey, key_classes
from discreet.risk.uniques.individual import HouseholdRisk, IndividualRisk, Sampling
from discreet.risk.uniques.population import PopulationUniques, population_uniques
from discreet.risk.uniques.suda import SpecialUniques, special_uniques
from discreet.risk.uniques.uniques import Uniques, uniques

__all__ = [
    "Diversity", "HouseholdRisk", "IndividualRisk", "KAnonymity", "KeyClasses", "MissingKey",
    "PopulationUniques", "Sampling", "SpecialUniques", "Uniques", "diversity", "k_anonymity",
    "key_classes", "population_uniques", "special_uniques", "uniques",
]  # fmt: skip
