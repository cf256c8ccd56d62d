"""Files: one module a format for reading, one for writing, and the schema that describes them."""
