"""A server of SQS that checks signatures, and functions behind a queue."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer
from ojs_server import REGION

ROOT = Path(__file__).resolve().parents[2]


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
