/**
 * Handlers of a worker in functions: AWS Lambda, Google Cloud Functions, Azure Functions, and behind any HTTP server.
 *
 * <p>A handler does not know how it was called: registry, middleware, context and errors are those of an {@link
 * org.openjobspec.OJSWorker}.
 */
package org.openjobspec.serverless;
