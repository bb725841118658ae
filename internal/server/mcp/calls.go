package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file contains the MCP methods that call a tool, read a resource or get a prompt.

// bindToolCall decodes the params of tools/call.
func bindToolCall(s *surface, m *message) (run, error) {
	name, err := subject(m, m.name, "name")
	if err != nil {
		return nil, err
	}
	args := json.RawMessage(m.args)
	if t := s.own.named[name]; t != nil {
		p := &mcp.CallToolParamsRaw{Name: name, Arguments: args, Meta: anyMeta(m)}
		return func(ctx context.Context) (mcp.Result, error) { return s.callOwn(ctx, t, p) }, nil
	}
	if name == decideName {
		return func(ctx context.Context) (mcp.Result, error) { return s.decide(ctx, args) }, nil
	}
	if s.confirms[name] {
		return func(ctx context.Context) (mcp.Result, error) { return s.callConfirmed(ctx, name, m) }, nil
	}
	return func(ctx context.Context) (mcp.Result, error) { return s.call(ctx, name, args) }, nil
}

// call runs a tool of the graph.
func (s *surface) call(ctx context.Context, name string, args json.RawMessage) (mcp.Result, error) {
	if !s.names[name] && s.graph.LacksProvider(access.ActorFrom(ctx), name) == nil {
		return nil, s.graph.NotKnown(ctx, access.ActorFrom(ctx), name, s.unknown(ctx, name))
	}
	answer, err := s.graph.Call(ctx, access.ActorFrom(ctx), name, args, s.graph.ForModel())
	return s.answered(ctx, answer, err)
}

// answered returns the result of a call of a tool that ended with an answer, or with an error.
func (s *surface) answered(ctx context.Context, answer *encoding.Answer, err error) (mcp.Result, error) {
	if err != nil {
		var u *wireerror.UnknownTool
		if errors.As(err, &u) {
			return nil, invalidParams(u.Error())
		}
		fault := s.graph.Report(ctx, err)
		switch {
		case fault.Operational:
			return nil, &jsonrpc.Error{Code: codeInternal, Message: fault.Body.Message}
		case fault.Challenge != "":
			return nil, newInsufficientScope(fault)
		}
		fault.Body.Diagnostics, fault.Body.LineFaults = nil, nil // the message already has the same faults, with the lines of the text
		text, err := encoding.JSON(fault.Body)
		if err != nil {
			return nil, err
		}
		// No structuredContent: clients check it against the output schema even for errors.
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
	}
	return &toolAnswer{json: answer.JSON, commit: answer.Commit}, nil
}

// toolAnswer is the result of a call of a tool of the graph. It stands for a [mcp.CallToolResult] with the JSON as
// its structured content and as its only text, and with the versions as its metadata.
type toolAnswer struct {
	mcp.ResultBase // stays empty
	json           []byte
	commit         string // that was read or written; may be empty
	schema         string // digest of the schema
	catalog        string // digest of the descriptors of all tools
}

// callOwn runs a tool from the options.
func (s *surface) callOwn(ctx context.Context, t *Tool, p *mcp.CallToolParamsRaw) (mcp.Result, error) {
	if !s.offers(ctx, t) {
		return nil, s.unknown(ctx, p.Name)
	}
	if err := s.graph.CheckScopes(access.ActorFrom(ctx), t.Gates); err != nil {
		return nil, err
	}
	res, err := t.Call(ctx, &mcp.CallToolRequest{Params: p})
	switch {
	case err != nil:
		return nil, err
	case res == nil:
		return nil, fmt.Errorf("the handler of the tool %s returned no result", p.Name)
	case res.InputRequests != nil:
		return nil, asksClient("tool", p.Name)
	case res.Content == nil:
		whole := *res
		whole.Content = []mcp.Content{} // a nil slice would be encoded as null
		res = &whole
	}
	return res, nil
}

// bindResourceRead decodes the params of resources/read.
func bindResourceRead(s *surface, m *message) (run, error) {
	uri, err := subject(m, m.uri, "uri")
	if err != nil {
		return nil, err
	}
	if uri == reviewURI {
		return s.readReviewApp, nil
	}
	if strings.HasPrefix(uri, skillScheme) {
		return func(ctx context.Context) (mcp.Result, error) { return s.readSkill(ctx, uri) }, nil
	}
	p := &mcp.ReadResourceParams{URI: uri, Meta: anyMeta(m)}
	return func(ctx context.Context) (mcp.Result, error) { return s.read(ctx, p) }, nil
}

// read reads a resource. For a resource that the caller may not see, the answer is the same as if
// it did not exist.
func (s *surface) read(ctx context.Context, p *mcp.ReadResourceParams) (mcp.Result, error) {
	gates, read, mimeType, ok := s.resourceAt(p.URI)
	switch {
	case !ok:
		return nil, mcp.ResourceNotFoundError(p.URI)
	case !s.granted(ctx, gates):
		return nil, s.withheld(ctx, gates, mcp.ResourceNotFoundError(p.URI))
	}
	if err := s.graph.CheckScopes(access.ActorFrom(ctx), gates); err != nil {
		return nil, err
	}
	res, err := read(ctx, &mcp.ReadResourceRequest{Params: p})
	switch {
	case err != nil:
		return nil, err
	case res == nil || res.Contents == nil && res.InputRequests == nil:
		return nil, fmt.Errorf("the handler of the resource %s returned no contents", p.URI)
	case res.InputRequests != nil:
		return nil, asksClient("resource", p.URI)
	}
	for _, c := range res.Contents {
		if c.URI == "" {
			c.URI = p.URI
		}
		if c.MIMEType == "" {
			c.MIMEType = mimeType
		}
	}
	res.Cacheable = private(0)
	return res, nil
}

// bindPromptGet decodes the params of prompts/get.
func bindPromptGet(s *surface, m *message) (run, error) {
	name, err := subject(m, m.name, "name")
	if err != nil {
		return nil, err
	}
	p := &mcp.GetPromptParams{Name: name, Meta: anyMeta(m)}
	if m.args != nil {
		if err := json.Unmarshal(m.args, &p.Arguments); err != nil {
			return nil, invalidParams("params.arguments: expected an object of strings")
		}
	}
	return func(ctx context.Context) (mcp.Result, error) { return s.getPrompt(ctx, p) }, nil
}

// getPrompt gets a prompt. For a prompt that the caller may not see, the answer is the same as if
// it did not exist.
func (s *surface) getPrompt(ctx context.Context, p *mcp.GetPromptParams) (mcp.Result, error) {
	prompt := s.prompts.named[p.Name]
	unknown := invalidParams(fmt.Sprintf("unknown prompt %q", p.Name))
	switch {
	case prompt == nil:
		return nil, unknown
	case !s.granted(ctx, prompt.Gates):
		return nil, s.withheld(ctx, prompt.Gates, unknown)
	}
	if err := s.graph.CheckScopes(access.ActorFrom(ctx), prompt.Gates); err != nil {
		return nil, err
	}
	res, err := prompt.Get(ctx, &mcp.GetPromptRequest{Params: p})
	switch {
	case err != nil:
		return nil, err
	case res == nil:
		return nil, fmt.Errorf("the handler of the prompt %s returned no result", p.Name)
	case res.InputRequests != nil:
		return nil, asksClient("prompt", p.Name)
	}
	return res, nil
}

// withheld returns the error of a request for something whose gates the policy denies. The error is that for something that does not exist.
func (s *surface) withheld(ctx context.Context, gates []tool.Grant, err error) error {
	return s.graph.Withhold(access.ActorFrom(ctx), gates, err)
}

// asksClient returns the error for a handler that asks the client for input. The server keeps no
// session, so it cannot resume the call.
func asksClient(kind, name string) error {
	return fmt.Errorf("the handler of the %s %s asks the client for input, which this server does not support", kind, name)
}

// unknown returns the error for a tool that does not exist. The same error answers a call of a tool
// that the caller may not see, so that the two cases look the same.
func (s *surface) unknown(ctx context.Context, name string) error {
	return invalidParams(s.graph.Unknown(ctx, access.ActorFrom(ctx), name).Error())
}
