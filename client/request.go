package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// request is a request to a server.
type request struct {
	method string      // of HTTP
	path   string      // escaped, relative to the server's URL
	query  url.Values  // the query string
	header http.Header // in addition to the headers that every request has
	media  string      // media type of the body
	size   int64       // size of the body in bytes; -1 if unknown

	// body returns the body for one attempt; nil means no body.
	body func() (io.Reader, error)

	// repeats is true if the request may be sent again, because it writes nothing or has an
	// idempotency key.
	repeats bool
	ownKey  bool // the client made the idempotency key; the caller gave none

	also int // a status other than 200 that means success; 0 for none
}

// reading returns a GET request.
func reading(path string, query url.Values) *request {
	return &request{method: http.MethodGet, path: path, query: query, header: http.Header{}, repeats: true}
}

// posting returns a POST request with a JSON object.
func posting(path string, body any) (*request, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return &request{
		method: http.MethodPost, path: path, header: http.Header{}, media: "application/json", size: int64(len(b)),
		body: func() (io.Reader, error) { return bytes.NewReader(b), nil },
	}, nil
}

// WriteOption is an option of one write.
type WriteOption func(*write)

// write holds the options of one write.
type write struct {
	key, ifCommit string // values of the Idempotency-Key and If-Commit headers; "" for none
	message       string // message of the commit; "" for none
}

// IdempotencyKey gives the write a key. Within a day, a request with the same key gets the answer
// of the first one, and changes nothing. Without this option the client makes a new key. Set a key
// to repeat the write safely in another process.
func IdempotencyKey(key string) WriteOption { return func(w *write) { w.key = key } }

// IfCommit writes only if the commit is the head of the branch. Otherwise the error matches
// [ErrPrecondition].
func IfCommit(commit string) WriteOption { return func(w *write) { w.ifCommit = commit } }

// Message says why the commit was made: at most 1 kB of text, see [engine.CheckMessage]. Histories show it.
func Message(text string) WriteOption { return func(w *write) { w.message = text } }

// HeaderMessage is the header with the message of a commit, in which each byte of UTF-8 other than letters, digits and -._~ may
// be written as % and two hexadecimal digits.
const HeaderMessage = "Omnigraph-Message"

// under adds the options of a write to the request, and marks the request as safe to repeat. If the
// options contain no idempotency key, it makes a new one.
func (q *request) under(dryRun bool, options []WriteOption) {
	var w write
	for _, o := range options {
		o(&w)
	}
	q.ownKey = w.key == "" && !dryRun
	if q.ownKey {
		w.key = rand.Text()
	}
	for name, v := range map[string]string{"Idempotency-Key": w.key, "Omnigraph-If-Graph-Commit": w.ifCommit, HeaderMessage: url.PathEscape(w.message)} {
		if v != "" {
			q.header.Set(name, v)
		}
	}
	q.repeats = true
}

// withoutKey removes the idempotency key that `under` made, so that the request is not repeated.
func (q *request) withoutKey() {
	if q.ownKey {
		q.header.Del("Idempotency-Key")
	}
	q.ownKey, q.repeats = false, false
}

// conditional selects the path with /if-graph-commit if the write has a condition. A server that
// has no conditional writes refuses that path instead of ignoring the header.
func (q *request) conditional() {
	if q.header.Get("Omnigraph-If-Graph-Commit") != "" {
		q.path += "/if-graph-commit"
	}
}

// The limits of the client.
const (
	maxAnswer  = 1 << 30  // bytes that the client reads of an answer; a server sends far less
	maxRefusal = 16 << 20 // bytes that the client reads of an error answer

	// maxEager is the largest body in bytes that is sent without waiting for 100 Continue.
	maxEager = 1 << 20
)

// ask sends a request and decodes its answer.
func ask[T any](ctx context.Context, c *Client, q *request) (*T, error) {
	b, err := c.read(ctx, q)
	if err != nil {
		return nil, err
	}
	return decode[T](b)
}

// decode decodes the JSON of an answer.
func decode[T any](b []byte) (*T, error) {
	answer := new(T)
	if err := json.Unmarshal(b, answer); err != nil {
		return nil, fmt.Errorf("the server's answer does not have the expected form: %w; check that the URL is that of an omnigraph-server", err)
	}
	return answer, nil
}

// read sends a request and returns the body of its answer.
func (c *Client) read(ctx context.Context, q *request) ([]byte, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	resp, err := c.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if c.inProcess {
		b := bytes.NewBuffer(make([]byte, 0, max(resp.ContentLength, 0)+bytes.MinRead)) // with the room that ReadFrom wants at the end
		_, err := b.ReadFrom(resp.Body)
		return b.Bytes(), err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the server's answer ended early: %w", err)
	case len(b) > maxAnswer:
		return nil, fmt.Errorf("the server's answer is larger than the client's limit of %d bytes", maxAnswer)
	}
	return b, nil
}

// open sends a request. If it fails and may be repeated, open sends it again. It returns a
// successful answer, whose body the caller must close. The error is an *Error if the server refused
// the request.
func (c *Client) open(ctx context.Context, q *request) (*http.Response, error) {
	attempt := func() (*http.Response, error) { return c.attempt(ctx, q) }
	if !q.repeats || c.inProcess {
		return attempt()
	}
	return retry(ctx, c, attempt)
}

// attempt sends a request once.
func (c *Client) attempt(ctx context.Context, q *request) (*http.Response, error) {
	req, err := c.request(ctx, q)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, q.also:
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, refusal(resp)
}

// unanswered returns the error of a request that got no answer. The error contains the address of
// the server, but not the path of the request.
func (c *Client) unanswered(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var failed *inprocess.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%s was not reached: %w", c.base, err)
	}
	return fmt.Errorf("%s did not answer: %w", c.base, err)
}

// request builds the HTTP request.
func (c *Client) request(ctx context.Context, q *request) (*http.Request, error) {
	u := c.base + q.path
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
	req.Header = q.header.Clone()
	req.Header.Set("User-Agent", c.userAgent)
	if !c.numbers {
		req.Header.Set(HeaderIntegers, IntegersString)
	}
	if q.body != nil {
		req.ContentLength = q.size
		req.Header.Set("Content-Type", q.media)
	}
	if q.ownKey && c.inProcess {
		req.Header.Del("Idempotency-Key")
	}
	if q.size > maxEager {
		// The server may then refuse the request before the body is sent.
		req.Header.Set("Expect", "100-continue")
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if left > c.grace {
			left -= c.grace
		} else {
			left /= 2 // even if the deadline is near, leave time for the answer
		}
		ms := max(left.Milliseconds(), 1)
		req.Header.Set("X-Timeout-Ms", strconv.FormatInt(min(ms, 1<<31-1), 10))
	}
	if c.token != nil {
		token, err := c.token(ctx)
		if err != nil {
			return nil, fmt.Errorf("the token for %s: %w", c.base, err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	return req, nil
}

// refusal returns the *Error of an answer that is not a success.
func refusal(resp *http.Response) error {
	e := &Error{}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil || json.Unmarshal(b, e) != nil {
		*e = Error{} // the answer is not an error envelope; it may come from a proxy
	}
	e.Status, e.Location, e.RetryAfter = resp.StatusCode, resp.Header.Get("Location"), retryAfter(resp.Header, clock.Now())
	status := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	switch {
	case e.Status == http.StatusNotModified:
		e.Message = "the client already has this answer"
	case e.Status >= 300 && e.Status < 400:
		e.Message = fmt.Sprintf("the server answered %s and redirected to %q; the client does not follow redirects", status, e.Location)
		e.Hint = "if the redirect leads to the right server, give the client that URL"
	case e.Message == "":
		e.Message = "the server answered " + status + " without an error message"
		e.Hint = "check that the URL is that of an omnigraph-server"
	case e.Status == http.StatusUnauthorized:
		e.Hint = "give the client a valid token"
	}
	return e
}
