"""How a process ended, in words."""

from __future__ import annotations

import signal


def describe_exit(status: int) -> str:
    """Return how a process ended, from its exit status.

    Parameters:
        status: The status; a negative one is the number of the signal that ended it.

    >>> describe_exit(3), describe_exit(-15)
    ('the process exited with status 3', 'the process was killed by SIGTERM')
    """
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    more = ", possibly out of memory" if name == "SIGKILL" else ""
    return f"the process was killed by {name}{more}"
