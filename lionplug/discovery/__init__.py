"""Finding plugins as data: nothing is imported, executed or followed out of a tree."""
