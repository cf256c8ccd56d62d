"""Every sentence of the web app: one module per screen, and `common` for what they share.

A screen imports its module: `from shoal.web.text import protect as text`. Sentences with figures
are functions.
"""
