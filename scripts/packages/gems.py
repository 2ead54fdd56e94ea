"""The gem with its native half, and the adapters' gems."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from archive import EPOCH, Content, lay
from checkout import VERSION, sources
from context import Context


def minor() -> str:
    """The version of Ruby that the native half has been built for: 3.1."""
    return subprocess.run(["ruby", "-e", 'print RbConfig::CONFIG["ruby_version"][/\\A\\d+\\.\\d+/]'],
                          capture_output=True, text=True, check=True).stdout


def make(context: Context) -> list[Path]:
    """Writes ojs-VERSION-PLATFORM.gem and ojs-adapter-NAME-VERSION.gem."""
    stage = context.stage / "gems"
    shutil.rmtree(stage, ignore_errors=True)
    files = sources("ruby", but=("test/",))
    extension = "bundle" if context.platform.system == "macos" else "so"
    native = Content(context.natives.shared("ojs_ruby"), executable=True)
    files[f"lib/ojs/{minor()}/ojs_ruby.{extension}"] = native
    files |= context.licences("ojs-ruby")
    adapters = sorted({name.split("/")[1] for name in files if name.startswith("adapters/ojs-adapter-")})
    for adapter in adapters:
        files[f"adapters/{adapter}/LICENSE"] = files["LICENSE"]
    lay(stage, files)
    place = context.out / "gems"
    place.mkdir(parents=True, exist_ok=True)
    made = []
    for spec in [stage / "ojs.gemspec", *(stage / "adapters" / name / f"{name}.gemspec" for name in adapters)]:
        done = subprocess.run(["gem", "build", "--quiet", spec.name], cwd=spec.parent, capture_output=True, text=True,
                              env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)})
        if done.returncode != 0:
            raise SystemExit(f"packages: gem build {spec.name}\n{done.stdout}{done.stderr}")
        gem = next(spec.parent.glob(f"*-{VERSION}*.gem"))
        made.append(Path(shutil.move(gem, place / gem.name)))
    return made
