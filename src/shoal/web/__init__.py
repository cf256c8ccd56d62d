"""The local web app: from a file to a defensible release, without programming.

`project` is its state and needs no web library, `screens` draws it with NiceGUI, and `text` has
every sentence of the interface.
"""
