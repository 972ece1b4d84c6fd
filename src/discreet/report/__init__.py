"""Results as pages: in a terminal, as HTML, as files."""
