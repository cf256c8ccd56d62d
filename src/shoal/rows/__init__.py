"""Where rows lie: in memory, on disk with DuckDB, in Spark."""
