// A function that runs the jobs of all its event sources, for the tests.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/openjobspec/ojs-go-sdk/serverless"
)

func main() {
	handler := serverless.NewLambdaHandler()
	handler.Register("email.send", func(ctx context.Context, job serverless.Job) error {
		if job.Args[0] == "bob" {
			return errors.New("no mail today")
		}
		serverless.SetResult(ctx, map[string]string{"sent_to": fmt.Sprint(job.Args[0])})
		return nil
	})
	lambda.Start(handler.HandleEvent)
}
