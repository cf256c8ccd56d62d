"""Who is near whom: a tree over records, and groups gathered around seeds."""
