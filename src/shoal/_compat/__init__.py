"""What Shoal uses of other libraries beyond their documented interface: internals and messages.

`tests/test_compat.py` runs every part against the real library, so that an upgrade that changes one
fails there.
"""
