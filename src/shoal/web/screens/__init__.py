"""The pages, drawn with NiceGUI: one file per screen, and `layout` for the frame around them."""
