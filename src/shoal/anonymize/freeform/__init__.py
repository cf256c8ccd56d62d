"""Methods that publish each record by ranges and sets of its own."""
