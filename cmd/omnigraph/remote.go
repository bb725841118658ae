package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// remote is a graph of a server. It sends its requests over REST.
type remote struct {
	base   string // the URL of the graph
	token  string // bearer token; "" for none
	client *http.Client
	notes  io.Writer // receives messages while it waits for the server

	deadline time.Time // deadline of all requests; zero for none
}

func newRemote(e *endpoint, token string, notes io.Writer) *remote {
	// endpoint.check has parsed the URL, so JoinPath cannot fail.
	base, _ := url.JoinPath(e.server, "graphs", segment(e.graph))
	r := &remote{base: base, token: token, client: newClient(), notes: notes}
	if e.timeout > 0 {
		r.deadline = clock.Now().Add(e.timeout)
	}
	return r
}

// segment escapes a name as one segment of a URL's path. Clients and proxies remove a segment that
// consists only of dots, so segment escapes those dots too.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.Repeat("%2E", len(name))
	}
	return url.PathEscape(name)
}

// newClient returns a client that follows no redirects. A token is only for the server that the
// user named, and a redirected POST may arrive as a GET.
func newClient() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (r *remote) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// serverError is an error that a server answered.
type serverError struct {
	Status int // HTTP status
	Body   service.WireError

	location string // target of a redirect
	// after is how long to wait before the next attempt. It is nil if the server does not say.
	after *time.Duration
}

func (e *serverError) Error() string {
	switch {
	case e.Status >= 300 && e.Status < 400:
		return fmt.Sprintf("the server answered %d %s and points to %q, which is not followed; if it is the server that you mean, name it with --server", e.Status, http.StatusText(e.Status), e.location)
	case e.Body.Error == "":
		return fmt.Sprintf("the server answered %d %s, and no error envelope; is there an omnigraph-server at this URL?", e.Status, http.StatusText(e.Status))
	case e.Status == http.StatusUnauthorized:
		return e.Body.Error + "; set " + tokenVar + ", or write the server's token to " + configName
	}
	return e.Body.Error
}

// request is a request to a server.
type request struct {
	method string
	path   string // escaped, relative to the graph
	query  url.Values
	media  string // media type of the body
	size   int64  // size of the body in bytes; -1 if unknown

	// body returns the body for one attempt; nil means no body.
	body func() (io.Reader, error)

	// repeats is true if the request may be sent again, because it writes nothing or has an
	// idempotency key.
	repeats bool

	ifCommit, key string // the conditions of a write; "" for none
}

// reading returns a GET request.
func reading(path string, query url.Values) *request {
	return &request{method: http.MethodGet, path: path, query: query, repeats: true}
}

// posting returns a POST request with a JSON object.
func posting(path string, body any) (*request, error) {
	b, err := service.JSON(body)
	if err != nil {
		return nil, err
	}
	return &request{
		method: http.MethodPost, path: path, media: "application/json", size: int64(len(b)),
		body: func() (io.Reader, error) { return bytes.NewReader(b), nil },
	}, nil
}

// under sets the conditions of a write. A write with an idempotency key, or a dry run, may be
// repeated.
func (q *request) under(opts engine.WriteOptions) *request {
	q.ifCommit, q.key = opts.IfCommit, opts.IdempotencyKey
	q.repeats = q.key != "" || opts.DryRun
	return q
}

// maxAnswer bounds the bytes that are read of an answer: 1 GiB, far more than a server sends.
const maxAnswer = 1 << 30

// ask sends a request and returns the body of its answer. The error is a *serverError if the server
// answers an error.
func (r *remote) ask(ctx context.Context, q *request) ([]byte, error) {
	resp, err := r.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer broke off: %w", err)
	case len(b) > maxAnswer:
		return nil, &engine.TooLarge{Resource: "bytes of the server's answer", Limit: maxAnswer, Actual: int64(len(b))}
	}
	return b, nil
}

// into sends a request and decodes the answer into answer, a pointer.
func (r *remote) into(ctx context.Context, q *request, answer any) error {
	b, err := r.ask(ctx, q)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, answer); err != nil {
		return fmt.Errorf("the server's answer is not what was asked for: %w; is there an omnigraph-server at this URL?", err)
	}
	return nil
}

// open sends a request, again if it fails and may be repeated. It returns a successful answer,
// whose body the caller must close.
func (r *remote) open(ctx context.Context, q *request) (*http.Response, error) {
	return patiently(ctx, q.repeats, r.notes, func() (*http.Response, error) { return r.attempt(ctx, q) })
}

func (r *remote) attempt(ctx context.Context, q *request) (*http.Response, error) {
	req, err := r.request(ctx, q)
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, r.unanswered(err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refusal(resp)
}

// unanswered returns an error that names the server that did not answer, without the path of the
// request.
func (r *remote) unanswered(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	host, _, _ := strings.Cut(r.base, "/graphs/")
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%s was not reached: %w", host, err)
	}
	return fmt.Errorf("%s did not answer: %w", host, err)
}

func (r *remote) request(ctx context.Context, q *request) (*http.Request, error) {
	u := r.base + q.path
	if len(q.query) > 0 {
		u += "?" + q.query.Encode()
	}
	var body io.Reader
	if q.body != nil {
		var err error
		if body, err = q.body(); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, q.method, u, body)
	if err != nil {
		return nil, err
	}
	if q.body != nil {
		req.ContentLength = q.size
		req.Header.Set("Content-Type", q.media)
	}
	if q.size > maxEager {
		// The server may then refuse the request before the body is sent.
		req.Header.Set("Expect", "100-continue")
	}
	for name, v := range map[string]string{"Omnigraph-If-Graph-Commit": q.ifCommit, "Idempotency-Key": q.key} {
		if v != "" {
			req.Header.Set(name, v)
		}
	}
	if !r.deadline.IsZero() {
		ms := max(clock.Until(r.deadline).Milliseconds(), 1)
		req.Header.Set("X-Timeout-Ms", strconv.FormatInt(min(ms, 1<<31-1), 10))
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	return req, nil
}

// maxEager is the largest body in bytes that is sent without waiting for 100 Continue.
const maxEager = 1 << 20

// maxRefusal bounds the bytes that are read of an error answer: 16 MiB.
const maxRefusal = 16 << 20

func refusal(resp *http.Response) error {
	e := &serverError{Status: resp.StatusCode, location: resp.Header.Get("Location"), after: retryAfter(resp.Header, clock.Now())}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil || json.Unmarshal(b, &e.Body) != nil {
		e.Body = service.WireError{} // the answer may come from a proxy
	}
	return e
}

// maxServerFaults is the number of faults from which on the answer of a server may lack some.
const maxServerFaults = 20

// atFile adds the name of the file to the faults of a text that a server refused. They then look
// like the faults of a local graph.
func atFile(err error, file, text string) error {
	var refused *serverError
	if !errors.As(err, &refused) || len(refused.Body.Diagnostics) == 0 {
		return err
	}
	found := diag.List(refused.Body.Diagnostics)
	for i := range found {
		found[i].Span.File = file
	}
	r := &service.Rejected{Diagnostics: found, Sources: map[string]string{file: text}}
	if len(found) < maxServerFaults {
		r.Right = gq.RightQueries(gq.Source{Name: file, Text: text}, found)
	}
	return r
}

// place returns the query parameters of a URL that select the state to read.
func place(at engine.Target) url.Values {
	v := url.Values{}
	setIf(v, "branch", at.Branch)
	setIf(v, "snapshot", at.Commit)
	return v
}

func setIf(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}
