"""How many people of a population are alone with their values, from a sample of it."""
