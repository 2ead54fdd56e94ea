"""The `ojs` binary in a tarball, and its package for Debian and Ubuntu."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from archive import EPOCH, Content, Files, gzipped, lay, text, write_tar_gz
from checkout import ROOT, VERSION
from context import Context

CONTROL = """Package: ojs
Version: {version}
Architecture: {architecture}
Maintainer: Open Job Spec <https://openjobspec.org>
Installed-Size: {size}
Depends: libc6 (>= {glibc}), libgcc-s1
Section: net
Priority: optional
Homepage: https://openjobspec.org
Description: Open Job Spec: server of background jobs, and its tools
 One program: a job server on a SQLite file or on PostgreSQL, its page for browsers,
 and the commands of an operator.
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ojs
Source: https://github.com/openjobspec/ojs

Files: *
Copyright: Open Job Spec
License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.
 The licences of the crates that are compiled in are in THIRD-PARTY-NOTICES.txt beside this file.
"""


def manual(context: Context) -> dict[str, bytes]:
    """The pages of the manual, by their file names, as the binary itself writes them."""
    place = context.stage / "man"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    subprocess.run([context.natives.program(), "man", "--directory", place], check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in sorted(place.iterdir())}


def completions(context: Context) -> dict[str, bytes]:
    """Completion scripts, by the name of the shell."""
    program = context.natives.program()
    return {shell: subprocess.run([program, "completions", shell], check=True, capture_output=True).stdout
            for shell in ("bash", "zsh", "fish")}


def tarball(context: Context) -> Path:
    """ojs-VERSION-PLATFORM.tar.gz: the binary, its manual, completions, licences, and the unit of systemd."""
    top = f"ojs-{VERSION}-{context.platform.short}"
    files: Files = {"bin/ojs": Content(context.natives.program(), executable=True), **context.licences("ojs-cli")}
    files |= {f"share/man/man1/{name}": Content(page) for name, page in manual(context).items()}
    files |= {f"share/completions/ojs.{shell}": Content(script) for shell, script in completions(context).items()}
    files["CHANGELOG.md"] = Content(ROOT / "CHANGELOG.md")
    if context.platform.system == "linux":
        files["share/systemd/ojs.service"] = Content(ROOT / "examples" / "deploy" / "ojs.service")
    path = context.out / "binary" / f"{top}.tar.gz"
    return write_tar_gz(path, {f"{top}/{name}": content for name, content in files.items()})


def debian(context: Context) -> Path:
    """ojs_VERSION_ARCHITECTURE.deb. The unit of systemd is installed and not enabled: `systemctl enable --now ojs`."""
    unit = (ROOT / "examples" / "deploy" / "ojs.service").read_text()
    unit = unit.replace("/usr/local/bin/", "/usr/bin/").replace("/etc/systemd/system/", "/usr/lib/systemd/system/")
    doc = "usr/share/doc/ojs"
    notes = context.licences("ojs-cli")["THIRD-PARTY-NOTICES.txt"]
    shells = completions(context)
    files: Files = {
        "usr/bin/ojs": Content(context.natives.program(), executable=True),
        "usr/lib/systemd/system/ojs.service": text(unit),
        f"{doc}/copyright": text(COPYRIGHT),
        f"{doc}/THIRD-PARTY-NOTICES.txt": notes,
        f"{doc}/changelog.gz": Content(gzipped((ROOT / "CHANGELOG.md").read_bytes())),
        "usr/share/bash-completion/completions/ojs": Content(shells["bash"]),
        "usr/share/zsh/vendor-completions/_ojs": Content(shells["zsh"]),
        "usr/share/fish/vendor_completions.d/ojs.fish": Content(shells["fish"]),
    }
    files |= {f"usr/share/man/man1/{name}.gz": Content(gzipped(page)) for name, page in manual(context).items()}
    size = sum(len(content.read()) for content in files.values()) // 1024
    files["DEBIAN/control"] = text(CONTROL.format(version=VERSION, architecture=context.platform.deb, size=size,
                                                  glibc=".".join(map(str, context.glibc))))
    stage = context.stage / "deb"
    shutil.rmtree(stage, ignore_errors=True)
    # The folder itself is in the package, as the root of the system.
    lay(stage, files).chmod(0o755)
    path = context.out / "debian" / f"ojs_{VERSION}_{context.platform.deb}.deb"
    path.parent.mkdir(parents=True, exist_ok=True)
    # xz with one thread: several write other bytes. (zstd is newer than Debian 10.)
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", stage, path]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)})
    if done.returncode != 0:
        raise SystemExit(f"packages: dpkg-deb\n{done.stdout}{done.stderr}")
    return path


def make(context: Context) -> list[Path]:
    """Writes the tarball, and the package of Debian where the platform has one and dpkg-deb is there."""
    made = [tarball(context)]
    if context.platform.deb and shutil.which("dpkg-deb"):
        made.append(debian(context))
    return made
