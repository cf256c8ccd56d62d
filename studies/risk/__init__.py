"""Expected re-identifications and their quick estimate: Malik (2014)."""
