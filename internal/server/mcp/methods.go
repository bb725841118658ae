package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// method is a row in the table of methods.
type method struct {
	name string // such as tools/call

	// The field `since` is the first protocol version that has the method, and `until` is the first
	// later version that does not have it. An empty string means no bound.
	since, until string

	// notification says that the message is a notification. The server accepts it and does nothing;
	// over stdio, the session handles cancellations.
	notification bool

	// subject returns the member of params that identifies the tool, prompt or resource. The header
	// Mcp-Name repeats that member. The function is nil if the method has no such member.
	subject func(*message) []byte

	// apart says that the method itself writes the records of the audit trail, or that it needs none. Each call of another method makes one.
	apart bool

	bind binder // decodes the params and returns the call
}

// A binder decodes the params of a call and returns the run function for it. It must do no other
// work, because the work of a binder is limited only by the size of the params. The error is a
// *jsonrpc.Error.
type binder func(s *surface, m *message) (run, error)

// run answers a call. A nil result stands for the empty object.
type run func(ctx context.Context) (mcp.Result, error)

// The methods that the server has. The types of params and results are the SDK's; a new method
// is one more row.
var table = []method{
	{name: "initialize", until: statelessVersion, bind: required((*surface).initialize)},
	{name: "ping", until: statelessVersion, apart: true, bind: bindPing},
	{name: "server/discover", since: statelessVersion, bind: optional((*surface).discover)},
	{name: "tools/list", bind: optional((*surface).listTools)},
	{name: "tools/call", subject: nameOf, apart: true, bind: bindToolCall},
	{name: "resources/list", bind: optional((*surface).listResources)},
	{name: "resources/templates/list", bind: optional((*surface).listTemplates)},
	{name: "resources/read", subject: uriOf, bind: bindResourceRead},
	{name: "skills/list", bind: optional((*surface).listSkills)},
	{name: "skills/get", bind: bindSkillGet},
	{name: listenMethod, since: statelessVersion, bind: bindListen},
	{name: "prompts/list", bind: optional((*surface).listPrompts)},
	{name: "prompts/get", subject: nameOf, bind: bindPromptGet},
	{name: "completion/complete", bind: required((*surface).complete)},
	{name: "notifications/initialized", notification: true},
	{name: "notifications/cancelled", notification: true},
	{name: "notifications/progress", notification: true},
	{name: "notifications/roots/list_changed", notification: true},
}

// methods holds the rows of the table by name.
var methods = func() map[string]*method {
	byName := make(map[string]*method, len(table))
	for i := range table {
		byName[table[i].name] = &table[i]
	}
	return byName
}()

// Methods returns the names of the methods and of the notifications that clients can send.
func Methods() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].name
	}
	return names
}

// in reports whether a protocol version has the method.
func (row *method) in(version string) bool {
	return row.since <= version && (row.until == "" || version < row.until)
}

// nameOf and uriOf return the member of params that names the tool, prompt or resource.
func nameOf(m *message) []byte { return m.name }
func uriOf(m *message) []byte  { return m.uri }

// handle answers a call. The error is a *jsonrpc.Error.
func (s *surface) handle(ctx context.Context, version string, m *message) (res mcp.Result, err error) {
	row := methods[m.method]
	if row == nil || row.notification || !row.in(version) {
		return nil, notFound(m.method)
	}
	ctx, end := s.traced(ctx, version, m)
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, s.fail(ctx, &wireerror.Panic{Value: p, Stack: debug.Stack()})
		}
		end(res, err)
	}()
	var answer run
	if late := s.graph.Turn(ctx, len(m.params), func() { answer, err = row.bind(s, m) }); late != nil {
		return nil, s.fail(ctx, late)
	}
	if err != nil {
		return nil, err
	}
	if commit := atLeast(m); commit != "" {
		if err := s.graph.Reach(ctx, commit); err != nil {
			return nil, s.fail(ctx, err)
		}
	}
	if res, err = s.recorded(ctx, row, m, answer); err != nil {
		return nil, s.mapped(ctx, err)
	}
	if err := s.stamp(ctx, res); err != nil {
		return nil, s.fail(ctx, err)
	}
	return res, nil
}

// recorded runs a call of a method, and records it in the audit trail.
func (s *surface) recorded(ctx context.Context, row *method, m *message, answer run) (res mcp.Result, err error) {
	if row.apart {
		return answer(ctx)
	}
	about := m.name
	if len(about) == 0 {
		about = m.uri
	}
	subject := ""
	if len(about) > 0 && about[0] == '"' {
		subject = unquoted(about)
	}
	err = s.graph.Recorded(ctx, row.name, subject, outcomeOf, func(ctx context.Context) error {
		res, err = answer(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// outcomeOf returns the outcome for the error of a call of a method.
func outcomeOf(err error) wireerror.Outcome {
	var wire *jsonrpc.Error
	switch {
	case !errors.As(err, &wire):
		return wireerror.OutcomeOf(err)
	case wire.Code == codeInvalidParams && wire.Data != nil: // a resource that is missing has data, other faults of params have none
		return wireerror.Missing
	case wire.Code == codeInternal:
		return wireerror.Failed
	}
	return wireerror.OfRequest
}

// optional returns a binder for a method that does not require params.
func optional[P any](f func(*surface, context.Context, *P) (mcp.Result, error)) binder {
	return decoded(f, false)
}

// required returns a binder for a method that must have params.
func required[P any](f func(*surface, context.Context, *P) (mcp.Result, error)) binder {
	return decoded(f, true)
}

// decoded returns a binder that decodes the params into a P and calls f.
func decoded[P any](f func(*surface, context.Context, *P) (mcp.Result, error), required bool) binder {
	return func(s *surface, m *message) (run, error) {
		p := new(P)
		switch {
		case m.params != nil:
			if err := json.Unmarshal(m.params, p); err != nil {
				return nil, malformedParams(m, err)
			}
		case required:
			return nil, missingParams(m)
		}
		return func(ctx context.Context) (mcp.Result, error) { return f(s, ctx, p) }, nil
	}
}

// subject returns the string that identifies the tool, prompt or resource of a call. If the member
// is absent, it returns the empty string, which identifies nothing.
func subject(m *message, raw []byte, member string) (string, error) {
	switch {
	case m.params == nil:
		return "", missingParams(m)
	case m.params[0] != '{':
		return "", malformedParams(m, nil)
	case raw == nil || jsontext.Value(raw).Kind() == 'n':
		return "", nil
	case raw[0] != '"':
		return "", invalidParams(fmt.Sprintf("params.%s: expected a string", member))
	}
	return unquoted(raw), nil
}

// anyMeta decodes all of a message's _meta, for handlers that read members that the protocol does
// not define.
func anyMeta(m *message) mcp.Meta {
	var meta mcp.Meta
	if m.meta != nil {
		_ = json.Unmarshal(m.meta, &meta) // a _meta that is not an object counts as absent
	}
	return meta
}

// atLeast returns the commit that the server must know before it answers, or "" if the message
// states none.
func atLeast(m *message) string {
	if !bytes.Contains(m.meta, []byte(metaAtLeast)) {
		return ""
	}
	commit, _ := anyMeta(m)[metaAtLeast].(string)
	return commit
}

// The codes of JSON-RPC errors.
const (
	codeParse              = jsonrpc.CodeParseError
	codeInvalidRequest     = jsonrpc.CodeInvalidRequest
	codeMethodNotFound     = jsonrpc.CodeMethodNotFound
	codeInvalidParams      = jsonrpc.CodeInvalidParams
	codeInternal           = jsonrpc.CodeInternalError
	codeHeaderMismatch     = mcp.CodeHeaderMismatch // a header contradicts the message
	codeUnsupportedVersion = mcp.CodeUnsupportedProtocolVersion
)

// notFound returns the error for a method that the protocol version does not have.
func notFound(method string) error {
	return &jsonrpc.Error{Code: codeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
}

// invalidParams returns the error for params that the method does not accept.
func invalidParams(message string) error {
	return &jsonrpc.Error{Code: codeInvalidParams, Message: message}
}

// missingParams returns the error for a message without the params that its method needs.
func missingParams(m *message) error {
	return invalidParams(fmt.Sprintf("%s needs params, but the message has none", m.method))
}

// malformedParams returns the error for params that are not an object, or that have a member of the
// wrong type.
func malformedParams(m *message, err error) error {
	detail := "found a value that is not an object"
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Field != "" {
		detail = fmt.Sprintf("found %s, which is not allowed at %s", article(mistyped.Value), mistyped.Field)
	}
	return invalidParams(fmt.Sprintf("the params of %s: %s", m.method, detail))
}

// article puts an article before the name that encoding/json gives to a kind of value.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// wireError returns err as a JSON-RPC error. If err wraps a JSON-RPC error, the result has the code
// and the data of that error.
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

// mapped returns an error with a JSON-RPC code. If err has no such code, the server itself caused
// err, so mapped reports it.
func (s *surface) mapped(ctx context.Context, err error) error {
	var lacks *insufficientScope
	if errors.As(err, &lacks) {
		return lacks
	}
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return wireError(err)
	}
	return s.fail(ctx, err)
}

// fail reports an error that cannot be part of a tool's result, and returns the JSON-RPC error
// for it.
func (s *surface) fail(ctx context.Context, err error) error {
	fault := s.graph.Report(ctx, err)
	code := int64(codeInternal)
	switch {
	case fault.Challenge != "":
		return newInsufficientScope(fault)
	case !fault.Operational:
		code = codeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: fault.Body.Message}
}

// insufficientScope is the error of a call that no scope of the caller's token covers. Over HTTP, the answer has the status 403
// and the challenge as WWW-Authenticate, in each version of the protocol.
type insufficientScope struct {
	err       *jsonrpc.Error
	challenge string
}

func newInsufficientScope(f *wireerror.Fault) error {
	return &insufficientScope{&jsonrpc.Error{Code: codeInvalidRequest, Message: f.Body.Message}, f.Challenge}
}

func (e *insufficientScope) Error() string { return e.err.Message }

func (e *insufficientScope) Unwrap() error { return e.err }
