"""Perturbation that keeps every margin already released."""

from discreet.masks.perturb.drawing import perturb, perturb_release
from discreet.masks.perturb.models import Source
from discreet.masks.perturb.perturbed import Perturbed

__all__ = ["Perturbed", "Source", "perturb", "perturb_release"]
