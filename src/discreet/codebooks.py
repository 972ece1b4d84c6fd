"""What columns mean: categories and their order, roles, missing values, hierarchies."""

from discreet.data.codebook import Codebook, Role, Variable
from discreet.data.hierarchy import Hierarchy
from discreet.data.sdmx import write_sdmx

__all__ = ["Codebook", "Hierarchy", "Role", "Variable", "write_sdmx"]
