"""The npm packages: the main one, and one per platform with the native half, as its optional dependencies."""
from __future__ import annotations

import json
from pathlib import Path

from archive import Content, Files, text, write_tar_gz
from checkout import ROOT, VERSION, sources
from context import Context
from platforms import PLATFORMS

#: What npm calls a processor.
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}
SYSTEMS = {"linux": "linux", "macos": "darwin"}


def described() -> dict:
    """The package.json of the checkout."""
    return json.loads((ROOT / "node" / "package.json").read_text())


def main_package(context: Context) -> Path:
    """JavaScript and types. npm installs the optional dependency whose platform fits."""
    package = described()
    listed = tuple(name for name in package["files"] if not name.startswith("*"))
    del package["devDependencies"], package["scripts"]
    package["files"] = [*listed, "LICENSE"]
    package["optionalDependencies"] = {f"@openjobspec/sdk-{known.node}": VERSION for known in PLATFORMS}
    files: Files = sources("node", *listed, "README.md")
    files |= {"package.json": text(json.dumps(package, indent=2) + "\n"), "LICENSE": Content(ROOT / "LICENSE")}
    return _pack(context, "openjobspec-sdk", files)


def platform_package(context: Context) -> Path:
    """The native half for one platform. `os`, `cpu` and `libc` keep npm from installing it elsewhere."""
    platform, package = context.platform, described()
    file = f"ojs.{platform.node}.node"
    kept = {name: package[name] for name in ("license", "repository", "homepage", "engines")}
    about: dict[str, object] = {
        "name": f"@openjobspec/sdk-{platform.node}", "version": VERSION,
        "description": f"The native half of @openjobspec/sdk for {platform.triple}", **kept,
        "main": file, "files": [file, "THIRD-PARTY-NOTICES.txt"],
        "os": [SYSTEMS[platform.system]], "cpu": [PROCESSORS[platform.machine]],
    }
    if platform.libc:
        about["libc"] = [platform.libc]
    readme = f"The native half of `@openjobspec/sdk` for {platform.triple}. Install that package; it brings this one.\n"
    files = {"package.json": text(json.dumps(about, indent=2) + "\n"), "README.md": text(readme),
             file: Content(context.natives.shared("ojs_node"), executable=True), **context.licences("ojs-node")}
    return _pack(context, f"openjobspec-sdk-{platform.node}", files)


def _pack(context: Context, name: str, files: Files) -> Path:
    inside = {f"package/{path}": content for path, content in files.items()}
    return write_tar_gz(context.out / "npm" / f"{name}-{VERSION}.tgz", inside)


def make(context: Context) -> list[Path]:
    """Writes both packages as `npm pack` names them."""
    return [main_package(context), platform_package(context)]
