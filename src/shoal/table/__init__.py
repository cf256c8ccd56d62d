"""Values of columns: types, domains and positions."""
