"""The examples of functions: their templates, and their programs in the platforms' runtimes."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import azure.functions
import functions_framework
import hcl2
import pytest
import yaml
from serverless_support import NOW, SECRET, LambdaFunction, failures, job, pushed, signed, sqs_event

from openjobspec import serverless

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "serverless"
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
    resources = yaml.load(template.read_text(), Template)["Resources"]
    for mapping in resources["OJSWorkerFunction"]["Properties"]["Events"].values():
        if mapping["Type"] == "SQS":
            assert mapping["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.parent.name)
def test_sam_takes_the_template(template: Path, tmp_path: Path) -> None:
    sam = [str(ROOT / ".venv/sam/bin/python"), "-m", "samcli", "validate", "--lint", "--region", "us-east-1"]
    # It needs neither credentials nor a network. Its own settings would be in the home.
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SAM_CLI_TELEMETRY": "0"}
    found = subprocess.run([*sam, "-t", str(template)], capture_output=True, text=True, env=environment)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "is a valid SAM Template" in found.stdout


def test_templates_give_the_function_the_token_of_the_server() -> None:
    for template in TEMPLATES:
        ours = yaml.load(template.read_text(), Template)
        variables = ours["Resources"]["OJSWorkerFunction"]["Properties"]["Environment"]["Variables"]
        if "OJS_URL" in variables:
            assert variables["OJS_AUTH_TOKEN"] == "!Ref OJSAuthToken", template
            assert ours["Parameters"]["OJSAuthToken"]["NoEcho"] is True, template


def test_the_queues_of_the_fifo_template_are_fifo_and_have_no_batching_window() -> None:
    resources = yaml.load((EXAMPLES / "fifo" / "template.yaml").read_text(), Template)["Resources"]
    queues = [one["Properties"] for one in resources.values() if one["Type"] == "AWS::SQS::Queue"]
    assert [(one["FifoQueue"], one["QueueName"].endswith(".fifo")) for one in queues] == [(True, True)] * 2
    (mapping,) = resources["OJSWorkerFunction"]["Properties"]["Events"].values()
    assert "MaximumBatchingWindowInSeconds" not in mapping["Properties"]


def test_the_functions_of_azure_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OJS_URL", raising=False)
    monkeypatch.setenv("OJS_SIGNING_SECRET", SECRET)
    folder = EXAMPLES / "azure"
    monkeypatch.syspath_prepend(str(folder))
    example: Any = importlib.import_module("function_app")
    limits = json.loads((folder / "host.json").read_text())
    limit = datetime.strptime(limits["functionTimeout"], "%H:%M:%S") - datetime.strptime("0", "%S")
    assert limit.total_seconds() == 300, "the timeout that the handler is given"
    triggers = {one.get_function_name(): one for one in example.app.get_functions()}
    about = [(name, one.get_trigger().get_dict_repr()["type"]) for name, one in sorted(triggers.items())]
    assert about == [("job", "serviceBusTrigger"), ("push", "httpTrigger")]
    body = pushed(job("email.send", "ada@example.com"))
    example.handler.clock = lambda: NOW

    def push(headers: dict[str, str]) -> Any:
        request = azure.functions.HttpRequest(method="POST", url="/api/push", headers=headers, body=body)
        return triggers["push"].get_user_function()(request)

    assert push({}).status_code == 401
    assert json.loads(push(signed(body)).get_body()) == {"status": "completed", "result": {"sent": True}}
    message = azure.functions.QueueMessage(id="1", body=json.dumps(job("email.send", "nobody")).encode())
    with pytest.raises(serverless.DeliveryFailedError, match="nobody is no address"):
        triggers["job"].get_user_function()(message)


SYNTH = """
import json, sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import app
import aws_cdk as cdk

code = Path(sys.argv[2]) / "build"
code.mkdir()
(code / "bootstrap").write_text("the program")
made = cdk.App(outdir=str(Path(sys.argv[2]) / "out"))
app.Worker(made, "ojs-worker", code=code)
print(json.dumps(made.synth().get_stack_by_name("ojs-worker").template))
"""


def wanted() -> dict[str, Any]:
    """What the printed template says about queue and function."""
    resources = yaml.load(PRINTED, Template)["Resources"]
    function = resources["OJSWorkerFunction"]["Properties"]
    return {
        "queue": resources["OJSQueue"]["Properties"],
        "dead": resources["OJSDeadLetterQueue"]["Properties"],
        "function": function,
        "mapping": function["Events"]["OJSQueue"]["Properties"],
    }


def test_the_stack_of_cdk_says_what_the_template_says(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SYNTH, str(EXAMPLES / "cdk"), str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    stack = json.loads(printed)
    of_type: dict[str, list[Any]] = {}
    for resource in stack["Resources"].values():
        of_type.setdefault(resource["Type"], []).append(resource["Properties"])
    (function,), (mapping,) = of_type["AWS::Lambda::Function"], of_type["AWS::Lambda::EventSourceMapping"]
    want = wanted()
    for name in ("Handler", "Runtime", "MemorySize", "Timeout"):
        assert function[name] == want["function"][name]
    given = {"OJS_URL": {"Ref": "OJSServerURL"}, "OJS_AUTH_TOKEN": {"Ref": "OJSAuthToken"}}
    assert function["Environment"]["Variables"] == given
    token = stack["Parameters"]["OJSAuthToken"]
    assert (token["Default"], token["NoEcho"]) == ("", True)
    for name in ("BatchSize", "MaximumBatchingWindowInSeconds"):
        assert mapping[name] == want["mapping"][name]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    queues = {queue["QueueName"]: queue for queue in of_type["AWS::SQS::Queue"]}
    assert set(queues) == {want["queue"]["QueueName"], want["dead"]["QueueName"]}
    queue = queues[want["queue"]["QueueName"]]
    assert queue["VisibilityTimeout"] == want["queue"]["VisibilityTimeout"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == want["queue"]["RedrivePolicy"]["maxReceiveCount"]


def test_terraform_says_what_the_template_says() -> None:
    text = (EXAMPLES / "terraform" / "main.tf").read_text()
    said = hcl2.loads(text)
    resources: dict[tuple[str, str], Any] = {}
    for block in said["resource"]:
        for kind, named in block.items():
            for name, members in named.items():
                resources[kind.strip('"'), name.strip('"')] = members
    want = wanted()

    def plain(members: Any, *names: str) -> list[Any]:
        return [members[name].strip('"') if isinstance(members[name], str) else members[name] for name in names]

    function = resources["aws_lambda_function", "worker"]
    expected = [want["function"][name] for name in ("Handler", "Runtime", "MemorySize", "Timeout")]
    assert plain(function, "handler", "runtime", "memory_size", "timeout") == expected
    (environment,) = function["environment"]
    given = {"OJS_URL": "${var.ojs_url}", "OJS_AUTH_TOKEN": "${var.ojs_auth_token}"}
    assert environment["variables"] == given
    variables = {name.strip('"'): members for block in said["variable"] for name, members in block.items()}
    assert plain(variables["ojs_auth_token"], "default", "sensitive") == ["", True]
    mapping = resources["aws_lambda_event_source_mapping", "jobs"]
    expected = [want["mapping"][name] for name in ("BatchSize", "MaximumBatchingWindowInSeconds")]
    assert plain(mapping, "batch_size", "maximum_batching_window_in_seconds") == expected
    assert [name.strip('"') for name in mapping["function_response_types"]] == ["ReportBatchItemFailures"]
    queue = resources["aws_sqs_queue", "jobs"]
    expected = [want["queue"][name] for name in ("QueueName", "VisibilityTimeout")]
    assert plain(queue, "name", "visibility_timeout_seconds") == expected
    assert plain(resources["aws_sqs_queue", "dead"], "name") == [want["dead"]["QueueName"]]


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
