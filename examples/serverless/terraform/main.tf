# The template of "Serverless Integration", section 3.3, in Terraform: a queue of SQS with its dead letter queue, the
# function behind it, and the right to send for the server. Build the program of section 3.2 first:
#
#     CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -tags lambda.norpc -o build/bootstrap .
#     terraform init && terraform apply -var ojs_url=https://ojs.example.com -var ojs_auth_token=…

terraform {
  required_version = ">= 1.5"
  required_providers {
    archive = {
      source  = "hashicorp/archive"
      version = "~> 2.4"
    }
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "ojs_url" {
  description = "Where the function reports the outcomes of jobs"
  type        = string

  validation {
    condition     = can(regex("^https?://.+", var.ojs_url))
    error_message = "ojs_url must begin with http:// or https://."
  }
}

variable "ojs_auth_token" {
  description = "A token of the server that may ack and nack; empty for a server without keys"
  type        = string
  default     = ""
  sensitive   = true
}

variable "server_role" {
  description = "Name of the IAM role that the OJS server runs under; empty if it has keys of its own"
  type        = string
  default     = ""
}

data "archive_file" "function" {
  type        = "zip"
  source_file = "${path.module}/build/bootstrap"
  output_path = "${path.module}/build/function.zip"
}

resource "aws_sqs_queue" "dead" {
  name                      = "ojs-default-dlq"
  message_retention_seconds = 1209600
}

resource "aws_sqs_queue" "jobs" {
  name                       = "ojs-default"
  visibility_timeout_seconds = 60
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 3
  })
}

resource "aws_iam_role" "function" {
  name_prefix = "ojs-worker-"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

# Receives and deletes messages, and writes the log.
resource "aws_iam_role_policy_attachment" "function" {
  role       = aws_iam_role.function.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole"
}

resource "aws_lambda_function" "worker" {
  function_name    = "ojs-worker"
  role             = aws_iam_role.function.arn
  filename         = data.archive_file.function.output_path
  source_code_hash = data.archive_file.function.output_base64sha256
  handler          = "bootstrap"
  runtime          = "provided.al2023"
  memory_size      = 256
  timeout          = 30

  environment {
    variables = {
      OJS_URL        = var.ojs_url
      OJS_AUTH_TOKEN = var.ojs_auth_token
    }
  }
}

resource "aws_lambda_event_source_mapping" "jobs" {
  event_source_arn                   = aws_sqs_queue.jobs.arn
  function_name                      = aws_lambda_function.worker.arn
  batch_size                         = 10
  maximum_batching_window_in_seconds = 5
  # Without it a failed job would bring back the whole batch.
  function_response_types = ["ReportBatchItemFailures"]
}

# The server sends jobs to the queue.
resource "aws_iam_role_policy" "server" {
  count = var.server_role == "" ? 0 : 1
  name  = "ojs-send"
  role  = var.server_role
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sqs:SendMessage", Resource = aws_sqs_queue.jobs.arn }]
  })
}

output "endpoint" {
  description = "The endpoint to register: ojs push add ENDPOINT email.send"
  value       = "sqs:${aws_sqs_queue.jobs.url}"
}
