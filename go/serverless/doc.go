// Package serverless runs the handlers of Open Job Spec jobs in functions: AWS Lambda, Google Cloud Functions, Azure
// Functions, and any net/http server that receives push deliveries.
//
//	handler := serverless.NewLambdaHandler(serverless.WithOJSURL("https://ojs.example.com"))
//	handler.Register("email.send", func(ctx context.Context, job serverless.Job) error {
//		return send(ctx, job.Args)
//	})
//	lambda.Start(handler.HandleSQS)
//
// A handler does not know how it was called: registry, middleware, context and errors are those of a worker of package
// ojs, see [Handler.RegisterHandler]. The package is plain Go and is built with CGO_ENABLED=0.
//
// A push request is answered with the outcome of its job. Jobs that come through a queue report their outcome to the
// server themselves, which therefore has to be named: [WithOJSURL].
package serverless
