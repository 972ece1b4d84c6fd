"""How things look: words, colours, charts, progress."""
