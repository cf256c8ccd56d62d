"""The state of the web app: one `Project`, from which every page is drawn; free of NiceGUI."""
