package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/inprocess"
)

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	base  string       // the URL of the server, without a slash at the end
	http  *http.Client // follows no redirects
	token TokenSource  // called before each request

	numbers   bool                                // answers have 64-bit integers as numbers
	userAgent string                              // value of the User-Agent header
	timeout   time.Duration                       // limit of one call; 0 for none
	grace     time.Duration                       // time between the deadline that the server gets and the deadline of the context
	tries     uint                                // maximum number of attempts of one request
	patience  time.Duration                       // limit of all attempts and waits of one request together
	notify    func(err error, wait time.Duration) // called before each wait for the next attempt; nil for none

	// inProcess is true if the server is a handler in this process. There is then no connection that can break, so
	// that the client sends each request once, without an idempotency key of its own, and reads answers of any size.
	inProcess bool
}

// Graph is one graph of a server. It is safe for concurrent use.
type Graph struct {
	c    *Client
	path string // escaped path of the graph in a URL
}

// TokenSource returns the bearer token for a request, or "" for none. The client calls it before
// each attempt, so that a source may renew tokens. It must be safe for concurrent use.
type TokenSource func(ctx context.Context) (string, error)

// Option is an option of [New].
type Option func(*Client)

// WithToken sends the bearer token with every request.
func WithToken(token string) Option {
	return WithTokenSource(func(context.Context) (string, error) { return token, nil })
}

// WithTokenSource calls the function `source` for the bearer token of each request, and sends the
// token.
func WithTokenSource(source TokenSource) Option { return func(c *Client) { c.token = source } }

// WithHTTPClient sends the requests through a copy of h, for example to use a proxy or the
// certificates of an organization. The copy follows no redirects.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) { c.http = new(*h) }
}

// WithTimeout limits the time of every call, its retries and waits included. It does not apply to
// the methods that return a stream. Without it only the context limits a call.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithGrace sends the server a deadline that is d before the deadline of the context. So the server
// has time to answer that its deadline has passed, and the caller gets that answer instead of
// [context.DeadlineExceeded]. If the deadline of the context is less than d away, the server gets
// half of the remaining time.
func WithGrace(d time.Duration) Option { return func(c *Client) { c.grace = d } }

// WithRetries sets the maximum number of attempts of one request. It also limits the total time of
// these attempts and of the waits between them; 0 sets no limit. The default is 4 attempts within
// 30 seconds; 1 attempt turns retries off.
func WithRetries(attempts int, within time.Duration) Option {
	return func(c *Client) { c.tries, c.patience = uint(max(attempts, 1)), within }
}

// WithNotify calls f before each wait for the next attempt.
func WithNotify(f func(err error, wait time.Duration)) Option {
	return func(c *Client) { c.notify = f }
}

// The header of a request that selects the form of 64-bit integers in its answer, and the header's value for
// strings of digits.
const (
	HeaderIntegers = "Omnigraph-Integers"
	IntegersString = "string"
)

// WithNumbers makes the server send values of the types I64 and U64 as JSON numbers. Without this option
// they are strings of digits, because decoders that store numbers as float64 round numbers beyond
// ±(2^53−1). [Row.Decode] takes both forms.
func WithNumbers() Option { return func(c *Client) { c.numbers = true } }

// WithUserAgent sets the User-Agent header.
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

const (
	defaultTries    = 4                // attempts for each request
	defaultPatience = 30 * time.Second // time limit for all attempts
)

// New returns a client of the server at a URL such as http://127.0.0.1:8080. It sends no request.
//
// The client sends its token to this URL only, and follows no redirects: the token is for the
// server that the caller named, and a redirected POST may arrive as a GET. Use an https URL for a
// server on another machine, because others can read the token of an http request.
func New(baseURL string, options ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("the server's URL is %q; give one such as http://127.0.0.1:8080", redacted(u))
	case u.User != nil:
		return nil, errors.New("the server's URL contains a user name or a password; remove them and give a token")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the server's URL is %q; remove ? or # and the text after it", u)
	}
	c := &Client{base: strings.TrimRight(u.String(), "/"), tries: defaultTries, patience: defaultPatience, userAgent: "omnigraph-go-client"}
	for _, o := range options {
		o(c)
	}
	if c.http == nil {
		c.http = &http.Client{}
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			c.http.Transport = t.Clone()
		}
	}
	_, c.inProcess = c.http.Transport.(*inprocess.Transport)
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// redacted returns the URL without its password, for messages. u must be nil if the URL is
// malformed.
func redacted(u *url.URL) string {
	if u == nil {
		return "malformed"
	}
	return u.Redacted()
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// HTTPClient returns the HTTP client that sends the requests. It follows no redirects and adds no
// token.
func (c *Client) HTTPClient() *http.Client { return c.http }

// Graph returns the graph with the given id. It sends no request.
func (c *Client) Graph(id string) *Graph { return &Graph{c: c, path: "/graphs/" + segment(id)} }

// MCPURL returns the URL of the MCP endpoint of the graph.
func (g *Graph) MCPURL() string { return g.c.base + g.path + "/mcp" }

// segment escapes a name as one segment of a URL's path. Clients and proxies remove a segment that
// consists only of dots, so segment escapes those dots too.
func segment(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.Repeat("%2E", len(name))
	}
	return url.PathEscape(name)
}
