"""Why a step is not open yet."""

from __future__ import annotations

NO_FILE = "Open a table first."
NOT_READ = "The table cannot be read yet; see above."
READING = "The table is being read."
NO_PERSON = "Say who a person is in this table."
NO_QUASI = "Mark at least one column as known to others."
NO_RUN = "Create a release first."
NO_KEY = "Choose a key file and a recipient for the pseudonyms, or remove these columns."
