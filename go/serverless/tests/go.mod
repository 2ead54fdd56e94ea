module github.com/openjobspec/ojs-go-sdk/serverless/tests

go 1.26

require (
	github.com/aws/aws-lambda-go v1.55.1
	github.com/openjobspec/ojs-go v0.0.0
	github.com/openjobspec/ojs-go-sdk/serverless v0.0.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)

replace (
	github.com/openjobspec/ojs-go => ../..
	github.com/openjobspec/ojs-go-sdk/serverless => ../
)
