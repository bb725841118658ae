package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Remote is the MCP endpoint of a graph on a server.
type Remote struct {
	URL    string                                    // of the endpoint
	Token  func(ctx context.Context) (string, error) // returns the bearer token for a request; nil means that none is sent
	Client *http.Client                              // nil means http.DefaultClient
}

// ProxyStdio forwards the messages of one client, one per line as with [ServeStdio], to a
// server, and forwards the answers to the client. If the server does not answer, ProxyStdio
// answers the call with an error that gives the reason, and the session goes on.
func ProxyStdio(ctx context.Context, remote Remote, in io.Reader, out io.Writer) error {
	if remote.Client == nil {
		remote.Client = http.DefaultClient
	}
	return serveStdio(ctx, in, out, 0, func(ctx context.Context, version string, m *message, up *upward) []byte {
		reply, err := remote.send(ctx, version, m, up)
		switch {
		case !m.isCall():
			return nil
		case err != nil:
			return appendError(nil, m.id, &jsonrpc.Error{Code: codeInternal, Message: err.Error()})
		}
		return reply
	})
}

// send posts a message and returns the answer on one line. If the server answers with a stream, send
// passes the notifications on before it returns. The answer is nil without an error for 202 Accepted, because a
// notification has no answer, and after a stream that ended because the session ends.
func (r *Remote) send(ctx context.Context, version string, m *message, up *upward) ([]byte, error) {
	if m.method == listenMethod { // which lasts until the session ends
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(up.ending, cancel)()
	}
	req, err := r.newRequest(ctx, version, m)
	if err != nil {
		return nil, err
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	defer resp.Body.Close()
	if mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType == "text/event-stream" && resp.StatusCode == http.StatusOK {
		return relay(resp.Body, m, up)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the server's answer ended early: %w", err)
	}
	if resp.StatusCode == http.StatusAccepted {
		return nil, nil
	}
	var answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
	}
	if json.Unmarshal(body, &answer) == nil && answer.JSONRPC == "2.0" && string(answer.ID) == string(m.id) {
		line := jsontext.Value(body)
		if bytes.IndexByte(body, '\n') >= 0 {
			if err := line.Compact(); err != nil {
				return nil, err
			}
		}
		return line, nil
	}
	return nil, refusal(resp, body)
}

// newRequest returns the request that posts a message, with the headers that the version of the protocol asks for.
func (r *Remote) newRequest(ctx context.Context, version string, m *message) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.Token != nil {
		token, err := r.Token(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if m.method != "initialize" {
		req.Header.Set(versionHeader, version)
		if ctx.Value(appsKey{}) != nil {
			req.Header.Set(sessionHeader, newAppsSession())
		}
	}
	if version >= statelessVersion {
		req.Header.Set(methodHeader, m.method)
		if name := cmp.Or(unquoted(m.name), unquoted(m.uri)); name != "" { // a message is about a name or a URI, never both
			req.Header.Set(nameHeader, name)
		}
	}
	return req, nil
}

// relay passes the messages of a stream of server-sent events on to the client, except the answer to the
// call m, which it returns. The answer is nil if the stream ended because the session ends.
func relay(stream io.Reader, m *message, up *upward) ([]byte, error) {
	most, help := math.MaxInt, "the call may have been carried out; check before you repeat it"
	if m.method == listenMethod {
		most, help = maxEvent, "listen again to go on"
	}
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, most)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // the name of the event, a comment, or the end of the event
		}
		data = bytes.Clone(bytes.TrimSpace(data))
		var answer struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(data, &answer) != nil {
			return nil, errors.New("the server sent an event that is not a JSON-RPC message")
		}
		if string(answer.ID) == string(m.id) {
			return data, nil
		}
		up.send(data)
	}
	if up.ending.Err() != nil {
		return nil, nil
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the server's stream ended early: %w; %s", err, help)
	}
	return nil, errors.New("the server's stream ended early; " + help)
}

// maxEvent is the maximum length in bytes of a line of a stream that listens. The answer of a call has no limit, as without a stream.
const maxEvent = 1 << 20

// refusal returns an error that describes an answer that is not a JSON-RPC message.
func refusal(resp *http.Response, body []byte) error {
	var envelope struct {
		Error json.RawMessage `json:"error"`
	}
	detail := strings.TrimSpace(string(body[:min(len(body), 200)]))
	if json.Unmarshal(body, &envelope) == nil && envelope.Error != nil {
		var fault jsonrpc.Error
		if json.Unmarshal(envelope.Error, &fault) == nil && fault.Message != "" {
			detail = fault.Message
		} else if s := unquoted(envelope.Error); s != "" {
			detail = s
		}
	}
	err := fmt.Errorf("the server answered %s: %s", resp.Status, detail)
	if resp.StatusCode == http.StatusUnauthorized {
		err = fmt.Errorf("%w; set OMNIGRAPH_TOKEN to a token that the server knows", err)
	}
	return err
}
