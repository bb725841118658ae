package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Remote is the MCP endpoint of a graph on a server.
type Remote struct {
	URL    string       // of the endpoint
	Token  string       // the bearer token; if empty, none is sent
	Client *http.Client // nil means http.DefaultClient
}

// ProxyStdio forwards the messages of one client, one per line as with [ServeStdio], to a
// server, and forwards the answers to the client. If the server does not answer, ProxyStdio
// answers the call with an error that gives the reason, and the session goes on.
func ProxyStdio(ctx context.Context, remote Remote, in io.Reader, out io.Writer) error {
	if remote.Client == nil {
		remote.Client = http.DefaultClient
	}
	return serveStdio(ctx, in, out, 0, func(ctx context.Context, version string, m *message) []byte {
		reply, err := remote.send(ctx, version, m)
		switch {
		case !m.isCall():
			return nil
		case err != nil:
			return appendError(nil, m.id, &jsonrpc.Error{Code: codeInternal, Message: err.Error()})
		}
		return reply
	})
}

// send posts a message and returns the answer on one line.
func (r *Remote) send(ctx context.Context, version string, m *message) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if m.method != "initialize" {
		req.Header.Set(versionHeader, version)
	}
	if version >= statelessVersion {
		req.Header.Set(methodHeader, m.method)
		if name := unquoted(m.name) + unquoted(m.uri); name != "" {
			req.Header.Set(nameHeader, name)
		}
	}
	resp, err := r.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	defer resp.Body.Close()
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
