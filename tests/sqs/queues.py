"""A server of SQS that checks signatures, the server under test as a process, and functions behind a queue."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import threading
import urllib.request
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer
from support import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
REGION = "eu-west-1"


def binary() -> Path:
    """The program `ojs` of this build, or where OJS_BIN says."""
    if named := os.environ.get("OJS_BIN"):
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / profile / "ojs" for profile in ("release", "debug")) if path.exists()]
    assert built, "build `ojs` first: cargo build --workspace --bins"
    return max(built, key=lambda path: path.stat().st_mtime)


class Amazon:
    """moto's server of SQS and IAM. Once `checks` was called, it answers requests with a wrong signature with 403."""

    def __init__(self) -> None:
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        self.key = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        self._clients: dict[tuple[str, str], Any] = {}

    def client(self, service: str) -> Any:
        """A client with the current key; one for each service and key, closed at the end."""
        name = (service, self.key["aws_access_key_id"])
        if name not in self._clients:
            self._clients[name] = boto3.client(service, region_name=REGION, endpoint_url=self.url, **self.key)
        return self._clients[name]

    def checks(self) -> None:
        """Signatures and permissions count from now on."""
        iam = self.client("iam")
        iam.create_user(UserName="ojs")
        allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}]}
        iam.put_user_policy(UserName="ojs", PolicyName="queues", PolicyDocument=json.dumps(allowed))
        made = iam.create_access_key(UserName="ojs")["AccessKey"]
        self.key = {"aws_access_key_id": made["AccessKeyId"], "aws_secret_access_key": made["SecretAccessKey"]}
        self._unchecked(0)

    def _unchecked(self, requests: float) -> None:
        """Lets so many further requests pass unchecked."""
        body, headers = str(requests).encode(), {"Content-Type": "text/plain"}
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/moto-api/reset-auth", body, headers)).close()

    def queue(self, name: str, **attributes: str) -> tuple[str, str]:
        """URL and ARN of a new queue."""
        sqs = self.client("sqs")
        if name.endswith(".fifo"):
            attributes["FifoQueue"] = "true"
        url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        return url, arn

    def close(self) -> None:
        # Settings and data are those of this process, not of the server.
        self._unchecked(float("inf"))
        urllib.request.urlopen(f"{self.url}/moto-api/reset", data=b"").close()
        for client in self._clients.values():
            client.close()
        self._server.stop()


class OjsServer:
    """`ojs server` on a database, with the credentials of an operator in its environment."""

    def __init__(self, store: Path, key: dict[str, str]) -> None:
        credentials = {name.upper(): value for name, value in key.items()}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        self._process = subprocess.Popen(
            [
                *(binary(), "server", "--listen", "127.0.0.1:0", "--store", f"sqlite:{store}"),
                *("--webhook-allow", "127.0.0.1", "--log-level", "ojs_engine::features::push=debug,info", "--log-jobs"),
            ],
            env={**clean, **credentials, "AWS_REGION": REGION},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log: list[str] = []
        address: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(address,), daemon=True)
        self._reader.start()
        self.url = address.get(timeout=PATIENCE)
        assert self.url, "".join(self.log)

    def _read(self, address: queue.SimpleQueue[str]) -> None:
        found = False
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.log.append(line)
            if not found and (match := re.search(r"http://127\.0\.0\.1:\d+", line)):
                found = True
                address.put(match[0])
        address.put("")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        # Shown with a failed test: what became of each job, and of each request to the queue.
        print("".join(self.log))
        assert self._process.stdout is not None
        self._process.stdout.close()


NODE = """
import {{ createInterface }} from 'node:readline';
import {{ LambdaHandler }} from '{package}/serverless/index.mjs';

const handler = new LambdaHandler({{ logger: {{ warn() {{}}, error() {{}} }} }});
handler.register('email.send', async (ctx) => {{
  if (ctx.args[0] === 'fail') throw new Error('boom');
  return {{ sent: String(ctx.args[0]).length, saved: ctx.checkpoint ?? null }};
}});
for await (const line of createInterface({{ input: process.stdin }})) {{
  console.log(JSON.stringify(await handler.handleSQS(JSON.parse(line))));
}}
"""


class NodeFunction:
    """Handlers of the Node.js package in a process of their own: an event a line, an answer a line."""

    def __init__(self, folder: Path, **environment: str) -> None:
        program = folder / "function.mjs"
        program.write_text(NODE.format(package=(ROOT / "node").as_posix()))
        self._process = subprocess.Popen(
            ["node", str(program)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def invoke(self, event: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(event) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
