"""Several tables about the same people, released together."""

from shoal.projects.checking import SetCheck, check_set
from shoal.projects.project import Project, ProjectTable
from shoal.projects.releasing import release_project

__all__ = ["Project", "ProjectTable", "SetCheck", "check_set", "release_project"]
