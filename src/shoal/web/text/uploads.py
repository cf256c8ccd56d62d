"""Why a file was not accepted."""

from __future__ import annotations

TOO_LARGE = "This file is larger than 500 MB. Open it by its path instead: it is not copied then."
EMPTY = "This file is empty."
NO_ROOM = "The disk has no room for this file. Open it by its path instead: it is not copied then."
BROKEN = "The upload broke off. Try again."
