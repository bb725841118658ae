// Package client calls an Omnigraph server over REST, and declares the wire vocabulary: the JSON
// types of every request and answer. A type has the same name here and in the OpenAPI document of
// the server. The names of bodies end in Body; all other types are answers or parts of answers.
//
//	c, err := client.New("http://127.0.0.1:8080", client.WithToken(token))
//	…
//	people := c.Graph("people")
//	answer, err := people.Invoke(ctx, "find_person", client.InvokeBody{Params: map[string]any{"name": "ada"}})
//
// # Values
//
// The package keeps the JSON of rows and property values as the server wrote it, because a 64-bit
// integer loses precision as a float64. [Row.Decode] decodes a row into a struct with the Go types
// that the caller wants. In parameters, int64, uint64 and [json.Number] keep every digit.
//
// # Retries and idempotency keys
//
// The client repeats a request when the connection failed, and when the server answers 429, or 503
// with Retry-After. It repeats only requests that are safe to repeat: reads, dry runs, and writes
// with an idempotency key. Every method with [WriteOption] arguments sends a new random key unless
// [IdempotencyKey] gives one. The server executes a key at most once within a day, so a repeated
// write changes nothing again. CreateBranch, DeleteBranch and Cleanup take no key, and the client
// sends them once.
//
// # Errors
//
// If the server refuses a request, the error is an [*Error] with the status, the code and the
// details of the answer. The sentinel errors, such as [ErrNotFound], match it with [errors.Is].
//
// # Time limits
//
// Every method stops when its context ends. If the context has a deadline, the client tells the
// server how much time is left, and the server stops working at that time too.
package client
