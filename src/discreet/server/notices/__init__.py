"""Who is told what, and the post that carries it."""
