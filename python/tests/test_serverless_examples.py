"""The examples of functions: their templates, and their programs in the platforms' runtimes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import functions_framework
import pytest
import yaml
from serverless_support import LambdaFunction, failures, job, sqs_event

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "serverless"
TEMPLATES = sorted(EXAMPLES.glob("*/template.yaml"))

#: "Serverless Integration", section 3.3.
PRINTED = """
AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31

Resources:
  OJSWorkerFunction:
    Type: AWS::Serverless::Function
    Properties:
      Handler: bootstrap
      Runtime: provided.al2023
      MemorySize: 256
      Timeout: 30
      Events:
        OJSQueue:
          Type: SQS
          Properties:
            Queue: !GetAtt OJSQueue.Arn
            BatchSize: 10
            MaximumBatchingWindowInSeconds: 5
      Environment:
        Variables:
          OJS_URL: !Ref OJSServerURL

  OJSQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: ojs-default
      VisibilityTimeout: 60
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt OJSDeadLetterQueue.Arn
        maxReceiveCount: 3

  OJSDeadLetterQueue:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: ojs-default-dlq
"""


class Template(yaml.SafeLoader):
    """Reads the short forms of CloudFormation's functions, such as ``!Ref``, as text."""


Template.add_multi_constructor("!", lambda loader, name, node: f"!{name} {node.value}")


def missing(printed: Any, ours: Any, place: str = "") -> list[str]:
    """The members of the printed template that ours lacks or changes."""
    if isinstance(printed, dict) and isinstance(ours, dict):
        return [found for name, value in printed.items() for found in missing(value, ours.get(name), f"{place}/{name}")]
    return [] if printed == ours else [place]


def test_the_printed_template_is_completed_and_not_changed() -> None:
    ours = yaml.load((EXAMPLES / "go" / "template.yaml").read_text(), Template)
    assert missing(yaml.load(PRINTED, Template), ours) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.parent.name)
def test_cloudformation_takes_the_template(template: Path) -> None:
    found = subprocess.run([Path(sys.executable).with_name("cfn-lint"), template], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")
    mapping = yaml.load(template.read_text(), Template)["Resources"]["OJSWorkerFunction"]["Properties"]["Events"]
    assert mapping["OJSQueue"]["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_function_of_lambda_runs(tmp_path: Path) -> None:
    function = LambdaFunction(tmp_path, (EXAMPLES / "python" / "app.py").read_text())
    try:
        answer = function.invoke(job("email.send", "nobody"))
        assert (answer["error"]["code"], answer["error"]["retryable"]) == ("invalid_address", False)
        batch = sqs_event(job("email.send", "ada@example.com"), job("email.send", "nobody"))
        assert failures(function.invoke(batch)) == ["m2"]
    finally:
        function.close()


def test_the_functions_of_google_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OJS_SIGNING_SECRET", "whsec_test_secret")
    source = str(EXAMPLES / "google" / "main.py")
    assert functions_framework.create_app(target="push", source=source).test_client().post("/").status_code == 401
    client = functions_framework.create_app(target="job", source=source).test_client()
    about = {"ce-id": "1", "ce-source": "//app", "ce-specversion": "1.0", "ce-type": "job"}
    data = json.dumps(job("email.send", "ada@example.com"))
    assert client.post("/", data=data, headers={**about, "content-type": "application/json"}).status_code == 200
