"""An npm registry with the packages of one folder, on a port that the system gives."""
from __future__ import annotations

import base64
import hashlib
import http.server
import json
import tarfile
import threading
import urllib.parse
from pathlib import Path


class Registry:
    """Serves what npm asks a registry for: the versions of a package, and their tarballs. Unknown packages are 404."""

    def __init__(self, folder: Path) -> None:
        self._tarballs = {path.name: path for path in folder.glob("*.tgz")}
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry._answer(self, urllib.parse.unquote(self.path).lstrip("/"))

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> Registry:
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _versions(self) -> dict[str, dict]:
        """The answer for each package, made of the package.json in its tarball."""
        found = {}
        for name, path in self._tarballs.items():
            with tarfile.open(path) as archive:
                about = json.load(archive.extractfile("package/package.json"))  # type: ignore[arg-type]
            digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
            about["dist"] = {"tarball": f"{self.url}-/{name}", "integrity": f"sha512-{digest}"}
            found[about["name"]] = {"name": about["name"], "dist-tags": {"latest": about["version"]},
                                    "versions": {about["version"]: about}}
        return found

    def _answer(self, request: http.server.BaseHTTPRequestHandler, path: str) -> None:
        tarball = self._tarballs.get(path.removeprefix("-/"))
        known = self._versions().get(path) if tarball is None else None
        if tarball is None and known is None:
            request.send_error(404)
            return
        body = tarball.read_bytes() if tarball is not None else json.dumps(known).encode()
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
