"""Tables of counts: named axes, margins and their lattice, formulas, graphs."""
