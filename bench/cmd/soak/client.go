package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/bench/serverproc"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// callLimit is the time limit of a call. It is longer than the server's own limit, so that the
// server's limit takes effect first.
const callLimit = 60 * time.Second

// client is one client. It makes one call at a time.
type client struct {
	n     int        // number of the client, from 0
	actor string     // the actor that the client acts as
	rng   *rand.Rand // draws the operations and their arguments

	base   string             // base URL of the graph
	token  string             // the actor's token
	http   *http.Client       // sends the requests over REST
	status atomic.Int64       // status of the last answer over HTTP
	mcp    *mcp.ClientSession // the session with the MCP server

	branches branching // how the client changes its current branch
	book     *book     // counts the outcomes of calls
	ledger   *ledger   // records the acknowledged writes

	serial int      // counts the texts and names, so that each is used only once
	live   []string // notes that only this client writes to and that exist
}

// newClient returns client number n, which acts as `actor` and has made no call yet.
func newClient(n int, actor string, p *serverproc.Server, b *book, l *ledger, seed uint64) *client {
	c := &client{
		n: n, actor: actor, rng: rand.New(rand.NewPCG(seed, uint64(n))), base: "http://" + p.Addr + "/graphs/" + graphID, token: tokenOf(actor),
		book: b, ledger: l,
	}
	c.http = &http.Client{Transport: c.transport(&http.Transport{MaxIdleConnsPerHost: 4}), Timeout: callLimit}
	return c
}

// sender is an http.RoundTripper that adds the client's token and records the status.
type sender struct {
	*client
	next *http.Transport // sends the request
}

// transport returns a round tripper that sends requests with `next`, adds the client's token, and
// records the status.
func (c *client) transport(next *http.Transport) http.RoundTripper { return sender{c, next} }

// RoundTrip implements [http.RoundTripper].
func (s sender) RoundTrip(r *http.Request) (*http.Response, error) {
	s.status.Store(lost)
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	res, err := s.next.RoundTrip(r)
	if err == nil {
		s.status.Store(int64(res.StatusCode))
	}
	return res, err
}

// CloseIdleConnections implements the interface that http.Client looks for.
func (s sender) CloseIdleConnections() { s.next.CloseIdleConnections() }

// close ends the client's MCP session and its connections.
func (c *client) close() {
	if c.mcp != nil {
		_ = c.mcp.Close() // the server keeps no sessions, so an error does not matter
	}
	c.http.CloseIdleConnections()
}

// rest makes a call over REST and records its outcome.
func (c *client) rest(ctx context.Context, operation, method, path, contentType, body string) *outcome {
	o := outcome{operation: operation, request: method + " " + path + " as " + c.actor + " " + body}
	start := clock.Now()
	o.status, o.body, o.err = c.send(ctx, method, path, contentType, body)
	o.took = clock.Since(start)
	c.enter(&o)
	return &o
}

// enter records an outcome, and counts its commit if it has one.
func (c *client) enter(o *outcome) {
	if o.ok() && commitOf(o) != "" {
		c.ledger.commits.Add(1)
	}
	c.book.enter(*o)
}

// send makes an HTTP request and returns the status and the body.
func (c *client) send(ctx context.Context, method, path, contentType, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return lost, nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return lost, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return lost, b, err // a partial answer counts as lost
	}
	return res.StatusCode, b, nil
}

// post makes a call with a JSON body.
func (c *client) post(ctx context.Context, operation, path string, body any) *outcome {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen: the body consists of maps, texts and numbers
	}
	return c.rest(ctx, operation, http.MethodPost, path, "application/json", string(b))
}

// session returns the client's MCP session. It opens one if there is none.
func (c *client) session(ctx context.Context) (*mcp.ClientSession, error) {
	if c.mcp != nil {
		return c.mcp, nil
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: c.base + "/mcp", HTTPClient: c.http, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err == nil {
		c.mcp = s
	}
	return s, err
}

// tool calls a tool over MCP. It records a fault with the status that it would have over HTTP.
func (c *client) tool(ctx context.Context, operation, name string, arguments map[string]any) *outcome {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // cannot happen: the arguments are maps of texts and numbers
	}
	o := outcome{operation: operation, request: "tool " + name + " as " + c.actor + " " + string(b)}
	start := clock.Now()
	o.status, o.body, o.err = c.callTool(ctx, name, json.RawMessage(b))
	o.took = clock.Since(start)
	c.enter(&o)
	return &o
}

// callTool calls a tool over MCP. It returns a status and the body of the answer.
func (c *client) callTool(ctx context.Context, name string, arguments json.RawMessage) (int, []byte, error) {
	s, err := c.session(ctx)
	if err != nil {
		return c.failed(err)
	}
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return c.failed(err)
	}
	var body bytes.Buffer
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			body.WriteString(text.Text)
		}
	}
	if !res.IsError {
		return http.StatusOK, body.Bytes(), nil
	}
	var fault struct {
		Code         string          `json:"code"`
		Precondition json.RawMessage `json:"precondition_failure"`
		Limit        json.RawMessage `json:"resource_limit"`
	}
	if err := json.Unmarshal(body.Bytes(), &fault); err != nil {
		return lost, body.Bytes(), fmt.Errorf("the body of the error is not an error envelope: %w", err)
	}
	switch {
	case fault.Precondition != nil:
		return http.StatusPreconditionFailed, body.Bytes(), nil
	case fault.Limit != nil && fault.Code == "bad_request":
		return http.StatusRequestEntityTooLarge, body.Bytes(), nil
	}
	status, ok := map[string]int{"bad_request": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404, "conflict": 409, "too_many_requests": 429, "internal": 503}[fault.Code]
	if !ok {
		return lost, body.Bytes(), errors.New("a fault without a code")
	}
	return status, body.Bytes(), nil
}

// failed returns the outcome of a call over MCP that got no result. It closes the session, because
// the server may have ended it.
func (c *client) failed(err error) (int, []byte, error) {
	if c.mcp != nil {
		_ = c.mcp.Close() // the session has failed already, so an error of Close adds nothing
		c.mcp = nil
	}
	status := int(c.status.Load())
	if status == http.StatusOK {
		var fault *jsonrpc.Error
		if errors.As(err, &fault) && fault.Code == jsonrpc.CodeInvalidParams {
			return http.StatusNotFound, nil, err // the protocol's error for an unknown tool
		}
		status = lost
	}
	return status, nil, err
}

// commitOf returns the id of the commit in the answer to a write, or "" for no commit. Over REST
// the member `commit` is an object; over MCP, and for a merge, the answer itself has `graph_commit_id`.
// The answer to a read has it too, but only the answer to a merge also has `outcome`, and only
// that to another write `node_changes`.
func commitOf(o *outcome) string {
	var answer struct {
		Commit  json.RawMessage `json:"commit"`
		Outcome string          `json:"outcome"`
		Changes json.RawMessage `json:"node_changes"`
		ID      string          `json:"graph_commit_id"`
	}
	if json.Unmarshal(o.body, &answer) != nil {
		return ""
	}
	if (answer.Outcome != "" || answer.Changes != nil) && answer.ID != "" {
		return answer.ID
	}
	var commit struct {
		ID string `json:"graph_commit_id"`
	}
	if json.Unmarshal(answer.Commit, &commit) != nil {
		return ""
	}
	return commit.ID
}
