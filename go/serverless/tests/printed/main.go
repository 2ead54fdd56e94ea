package main

import (
	"context"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

func main() {
	handler := serverless.NewLambdaHandler(
		serverless.WithOJSURL("https://ojs.example.com"),
	)

	handler.Register("email.send", func(ctx context.Context, job serverless.Job) error {
		// Process the job
		return nil
	})

	lambda.Start(handler.HandleSQS)
}
