"""What follows from printed sheets: intervals of cells, printed or fine, and proofs of them."""
