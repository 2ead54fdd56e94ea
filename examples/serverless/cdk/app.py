"""The template of "Serverless Integration", section 3.3, with AWS CDK: a queue of SQS with its dead letter queue, and
the function behind it. The server needs the right sqs:SendMessage on the queue, which this stack does not give.

    pip install -r requirements.txt
    CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -tags lambda.norpc -o build/bootstrap .  # the program of section 3.2
    npx cdk deploy --app "python app.py" --parameters OJSServerURL=https://ojs.example.com --parameters OJSAuthToken=…
"""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_lambda as functions
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct


class Worker(cdk.Stack):
    """A worker of Open Job Spec on AWS Lambda, fed by a queue of SQS."""

    def __init__(self, scope: Construct, name: str, *, code: Path) -> None:
        super().__init__(scope, name, description="A worker of Open Job Spec on AWS Lambda, fed by a queue of SQS")
        url = cdk.CfnParameter(
            self,
            "OJSServerURL",
            description="Where the function reports the outcomes of jobs",
            allowed_pattern="https?://.+",
        )
        token = cdk.CfnParameter(
            self,
            "OJSAuthToken",
            description="A token of the server that may ack and nack; empty for a server without keys",
            default="",
            no_echo=True,
        )
        dead = sqs.Queue(
            self, "OJSDeadLetterQueue", queue_name="ojs-default-dlq", retention_period=cdk.Duration.days(14)
        )
        jobs = sqs.Queue(
            self,
            "OJSQueue",
            queue_name="ojs-default",
            visibility_timeout=cdk.Duration.seconds(60),
            dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=3),
        )
        worker = functions.Function(
            self,
            "OJSWorkerFunction",
            code=functions.Code.from_asset(str(code)),
            handler="bootstrap",
            runtime=functions.Runtime.PROVIDED_AL2023,
            memory_size=256,
            timeout=cdk.Duration.seconds(30),
            environment={"OJS_URL": url.value_as_string, "OJS_AUTH_TOKEN": token.value_as_string},
        )
        mapping = sources.SqsEventSource(
            jobs,
            batch_size=10,
            max_batching_window=cdk.Duration.seconds(5),
            # Without it a failed job would bring back the whole batch.
            report_batch_item_failures=True,
        )
        worker.add_event_source(mapping)
        cdk.CfnOutput(
            self,
            "Endpoint",
            description="The endpoint to register: ojs push add ENDPOINT email.send",
            value=f"sqs:{jobs.queue_url}",
        )


def main() -> None:
    app = cdk.App()
    Worker(app, "ojs-worker", code=Path(__file__).parent / "build")
    app.synth()


if __name__ == "__main__":
    main()
