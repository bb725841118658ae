package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol versions that the code distinguishes.
const (
	statelessVersion = "2026-07-28" // since then each request carries its version and client
	unbatchedVersion = "2025-06-18" // since then without batches
	assumedVersion   = "2025-03-26" // of requests that name no version
	oldestVersion    = "2024-11-05" // supported for initialize only
)

// versions are the protocol versions in which every method is served, newest first.
var versions = []string{statelessVersion, "2025-11-25", unbatchedVersion, assumedVersion}

// supported reports whether a method is served in a protocol version.
func supported(version, method string) bool {
	return slices.Contains(versions, version) || version == oldestVersion && method == "initialize"
}

// removed are the methods that the stateless protocol no longer has.
var removed = map[string]bool{"initialize": true, "ping": true}

// The codes of JSON-RPC errors.
const (
	codeParse              = jsonrpc.CodeParseError
	codeInvalidRequest     = jsonrpc.CodeInvalidRequest
	codeMethodNotFound     = jsonrpc.CodeMethodNotFound
	codeInvalidParams      = jsonrpc.CodeInvalidParams
	codeInternal           = jsonrpc.CodeInternalError
	codeHeaderMismatch     = mcp.CodeHeaderMismatch
	codeUnsupportedVersion = mcp.CodeUnsupportedProtocolVersion
)

// handle runs a call with the methods of the SDK's server, behind its middleware. The error is
// a *jsonrpc.Error.
func (s *surface) handle(ctx context.Context, version string, m *message) (mcp.Result, error) {
	stateless := version >= statelessVersion
	if !methods[m.method] || stateless && removed[m.method] || !stateless && m.method == "server/discover" ||
		strings.HasPrefix(m.method, "notifications/") {
		return nil, notFound(m.method)
	}
	var req mcp.Request
	var err error
	if late := s.graph.Turn(ctx, len(m.params), func() { req, err = s.request(ctx, version, m) }); late != nil {
		return nil, wireError(s.fail(ctx, late))
	}
	if err != nil {
		return nil, err
	}
	res, err := s.chain(ctx, m.method, req)
	if err != nil {
		return nil, wireError(err)
	}
	return res, nil
}

// wireError returns err as a JSON-RPC error, with the code and data of the one it wraps.
func wireError(err error) *jsonrpc.Error {
	if e, ok := err.(*jsonrpc.Error); ok {
		return e
	}
	e := &jsonrpc.Error{Code: codeInternal, Message: err.Error()}
	var wrapped *jsonrpc.Error
	if errors.As(err, &wrapped) {
		e.Code, e.Data = wrapped.Code, wrapped.Data
	}
	return e
}

// request decodes the parameters of a call into a request of the SDK.
func (s *surface) request(ctx context.Context, version string, m *message) (mcp.Request, error) {
	session := s.stateful
	if version >= statelessVersion {
		session = s.stateless
	}
	switch m.method {
	case "tools/call":
		name, err := named(m, m.name, "name")
		if err != nil {
			return nil, err
		}
		p := &mcp.CallToolParamsRaw{Name: name, Arguments: json.RawMessage(m.args)}
		if s.own[name] {
			p.Meta = anyMeta(m)
		}
		return &mcp.CallToolRequest{Session: session, Params: p}, nil
	case "resources/read":
		uri, err := named(m, m.uri, "uri")
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceRequest{Session: session, Params: &mcp.ReadResourceParams{URI: uri, Meta: anyMeta(m)}}, nil
	case "prompts/get":
		name, err := named(m, m.name, "name")
		if err != nil {
			return nil, err
		}
		req := &mcp.GetPromptRequest{Session: session, Params: &mcp.GetPromptParams{Name: name, Meta: anyMeta(m)}}
		if m.args != nil {
			if err := json.Unmarshal(m.args, &req.Params.Arguments); err != nil {
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "params.arguments: wanted an object of strings"}
			}
		}
		return req, nil
	case "initialize":
		// initialize stores the client's information in its session, so it needs a session of its
		// own.
		own, err := s.session("", false)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return decoded(m, own, true, func(ss *mcp.ServerSession, p *mcp.InitializeParams) mcp.Request {
			return &mcp.ServerRequest[*mcp.InitializeParams]{Session: ss, Params: p}
		})
	case "server/discover":
		own, err := s.session(version, true)
		if err != nil {
			return nil, s.fail(ctx, err)
		}
		return decoded(m, own, false, func(ss *mcp.ServerSession, p *mcp.DiscoverParams) mcp.Request {
			return &mcp.ServerRequest[*mcp.DiscoverParams]{Session: ss, Params: p}
		})
	case "ping":
		return &mcp.ServerRequest[*mcp.PingParams]{Session: session, Params: &mcp.PingParams{}}, nil
	case "tools/list":
		return decoded(m, session, false, func(ss *mcp.ServerSession, p *mcp.ListToolsParams) mcp.Request {
			return &mcp.ListToolsRequest{Session: ss, Params: p}
		})
	case "resources/list":
		return decoded(m, session, false, func(ss *mcp.ServerSession, p *mcp.ListResourcesParams) mcp.Request {
			return &mcp.ListResourcesRequest{Session: ss, Params: p}
		})
	case "resources/templates/list":
		return decoded(m, session, false, func(ss *mcp.ServerSession, p *mcp.ListResourceTemplatesParams) mcp.Request {
			return &mcp.ListResourceTemplatesRequest{Session: ss, Params: p}
		})
	case "prompts/list":
		return decoded(m, session, false, func(ss *mcp.ServerSession, p *mcp.ListPromptsParams) mcp.Request {
			return &mcp.ListPromptsRequest{Session: ss, Params: p}
		})
	}
	return nil, notFound(m.method)
}

// notFound returns the error for a method that the protocol version does not serve.
func notFound(method string) error {
	return &jsonrpc.Error{Code: codeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
}

// decoded decodes the parameters of a call as a P.
func decoded[P any](m *message, ss *mcp.ServerSession, required bool, request func(*mcp.ServerSession, *P) mcp.Request) (mcp.Request, error) {
	p := new(P)
	if m.params == nil {
		if required {
			return nil, missingParams(m)
		}
		return request(ss, p), nil
	}
	if err := json.Unmarshal(m.params, p); err != nil {
		detail := "found something else than an object"
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) && mistyped.Field != "" {
			detail = fmt.Sprintf("found %s where it cannot be, at %s", article(mistyped.Value), mistyped.Field)
		}
		return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("the params of %s: %s", m.method, detail)}
	}
	return request(ss, p), nil
}

// article puts an article before the name that encoding/json gives to a kind of value.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// named returns the string parameter that identifies the tool, prompt or resource of a call. An
// absent parameter is the empty string, which identifies nothing.
func named(m *message, raw []byte, member string) (string, error) {
	switch {
	case m.params == nil:
		return "", missingParams(m)
	case m.params[0] != '{':
		return "", &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("the params of %s: found something else than an object", m.method)}
	case raw == nil || jsontext.Value(raw).Kind() == 'n':
		return "", nil
	case raw[0] != '"':
		return "", &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("params.%s: wanted a string", member)}
	}
	return unquoted(raw), nil
}

func missingParams(m *message) error {
	return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("%s wants params, found none", m.method)}
}

// anyMeta decodes all of a message's _meta, for handlers that read members beyond those of the
// protocol.
func anyMeta(m *message) mcp.Meta {
	var meta mcp.Meta
	if m.meta != nil {
		_ = json.Unmarshal(m.meta, &meta) // a _meta that is not an object counts as absent
	}
	return meta
}

// requestMeta is the part of _meta in which a message of the stateless protocol gives its
// version, client and capabilities.
type requestMeta struct {
	version string // empty if absent
	fault   string // the member that is missing or malformed, or ""
	absent  bool   // whether fault may be missing rather than malformed
}

// metaOf reads the members of a message's _meta that the protocol defines.
func metaOf(m *message) (meta requestMeta) {
	if m.meta == nil || m.meta[0] != '{' {
		return meta
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(m.meta, &raw); err != nil {
		return meta // readMessages has checked the JSON, so this is an object
	}
	meta.version = unquoted(raw[mcp.MetaKeyProtocolVersion])
	var client mcp.Implementation
	if info, ok := raw[mcp.MetaKeyClientInfo]; ok && !isObject(info, &client) {
		meta.fault = mcp.MetaKeyClientInfo
		return meta
	}
	var capabilities mcp.ClientCapabilities
	if !isObject(raw[mcp.MetaKeyClientCapabilities], &capabilities) {
		meta.fault, meta.absent = mcp.MetaKeyClientCapabilities, true
	}
	return meta
}

// isObject decodes raw into a value and reports whether raw is a valid object. It skips the
// decoding of an empty object, which is frequent.
func isObject(raw json.RawMessage, into any) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	return len(raw) == 2 || json.Unmarshal(raw, into) == nil
}

// checkMeta checks the _meta of a call against the protocol version of the transport: over HTTP
// that of the header, which is empty if there was none.
func checkMeta(m *message, header string) *jsonrpc.Error {
	if !m.isCall() {
		return nil
	}
	stateless := header >= statelessVersion
	if m.meta == nil && !stateless {
		return nil
	}
	meta := metaOf(m)
	switch {
	case meta.version == "" && !stateless:
		return nil
	case header == "":
		return &jsonrpc.Error{Code: codeHeaderMismatch,
			Message: fmt.Sprintf("%s header is required for requests carrying %q", versionHeader, mcp.MetaKeyProtocolVersion)}
	case meta.version == "":
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", mcp.MetaKeyProtocolVersion)}
	case meta.version != header:
		return &jsonrpc.Error{Code: codeHeaderMismatch,
			Message: fmt.Sprintf("%s header %q does not match request %s %q", versionHeader, header, mcp.MetaKeyProtocolVersion, meta.version)}
	case stateless && meta.absent:
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", meta.fault)}
	case stateless && meta.fault != "":
		return &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("invalid _meta field %q", meta.fault)}
	}
	return nil
}

// maxVersion is how many bytes of an unsupported version the error message repeats.
const maxVersion = 80

// unsupportedVersion returns the error for a protocol version that is not served.
func unsupportedVersion(version string) *jsonrpc.Error {
	if len(version) > maxVersion {
		version = strings.ToValidUTF8(version[:maxVersion], "") + "…"
	}
	data, err := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: versions, Requested: version})
	if err != nil {
		panic(err) // strings always encode
	}
	return &jsonrpc.Error{Code: codeUnsupportedVersion, Message: fmt.Sprintf("unsupported protocol version %q; the supported ones are %s", version, strings.Join(versions, ", ")), Data: data}
}

// statusOf returns the HTTP status of an answer. The stateless protocol maps some errors to a
// status; the older versions answer all of them with 200.
func statusOf(version string, err *jsonrpc.Error) int {
	if err == nil || version < statelessVersion {
		return http.StatusOK
	}
	switch err.Code {
	case codeMethodNotFound:
		return http.StatusNotFound
	case codeInvalidParams, codeUnsupportedVersion, mcp.CodeMissingRequiredClientCapabilities:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
