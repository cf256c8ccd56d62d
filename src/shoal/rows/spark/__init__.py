"""The Spark engine: rows stay in Spark, on a cluster or on this machine.

Only the DataFrame interface is used, so classic sessions and Spark Connect work alike.
"""
