"""Methods that group records, against rows, k and attributes: Liang (2020), chapter 3."""
