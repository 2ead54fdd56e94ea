"""The files of a repository: those that git has or would take. Python 3.10, standard library only."""
import os
import subprocess
from pathlib import Path

#: Folders without files of ours, for a copy of the repository that came without git.
NOT_OURS = {".git", ".venv", ".cache", "node_modules", "target", "__pycache__", ".pytest_cache", ".mypy_cache"}


def git(*arguments: str, root: Path) -> str | None:
    """What a git command prints; None where there is no git, no repository, or no such commit."""
    # The owner of the checkout may be another user, as in containers.
    command = ["git", "-c", "safe.directory=*", *arguments]
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, errors="replace")
    except FileNotFoundError:
        return None
    return run.stdout if run.returncode in (0, 1) else None


def tracked(root: Path) -> list[str]:
    """The files below a folder, relative to it, in the order of their names."""
    listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", root=root)
    if listing is not None:
        return sorted(name for name in set(listing.split("\0")) if name and (root / name).is_file())
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        found += [(Path(folder) / name).relative_to(root).as_posix() for name in names]
    return sorted(found)
