package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file asks for a confirmation before a call takes a step that removes data, if the configuration
// of the graph says so. A client that can show forms gets a form for its user. The call then ends with
// the result input_required, and the client sends it again with the user's answer and with a state that
// only the server can read. Other clients must add confirm: true to the arguments.

const (
	// confirmMember is the argument that confirms a call, and the member of the form that does.
	confirmMember = "confirm"

	// confirmWithin is how long a user may take to answer the form.
	confirmWithin = 5 * time.Minute
)

// confirmProperty is the schema of the argument confirm.
const confirmProperty = `{"type":"boolean","description":"Set it to true when the user agreed to a call that removes data or merges."}`

// requestState is what a form's state says: which call of which actor the user was asked to confirm. It
// is sealed.
type requestState struct {
	Graph   string            `json:"graph"`
	Tenant  string            `json:"tenant,omitempty"`
	Actor   string            `json:"actor"`
	Tool    string            `json:"tool"`
	Args    [sha256.Size]byte `json:"args"` // digest of the canonical arguments
	Step    [sha256.Size]byte `json:"step"` // digest of the step and of the heads of its branches
	Expires time.Time         `json:"expires"`
}

// confirmation decides for one call whether its steps are confirmed.
type confirmation struct {
	surface *surface
	want    requestState // without Args, Step and Expires
	args    []byte       // the arguments without confirm
	said    bool         // the arguments have confirm: true
	forms   bool         // the client can show forms
	state   string       // the state that the client sent, or ""
	answer  *mcp.ElicitResult

	// Set if the step is not confirmed and the user can be asked.
	asked   *requestState
	message string // the question
}

// inputRequired is the result of a call that waits for an answer of the user.
type inputRequired struct {
	mcp.ResultBase
	ResultType    string              `json:"resultType"`
	InputRequests mcp.InputRequestMap `json:"inputRequests"`
	RequestState  string              `json:"requestState"`
}

// callConfirmed runs a tool of the graph that may need a confirmation.
func (s *surface) callConfirmed(ctx context.Context, name string, m *message) (mcp.Result, error) {
	var args []byte
	var said bool
	var err error
	if late := s.graph.Turn(ctx, len(m.args), func() { args, said, err = takeConfirm(m.args) }); late != nil || err != nil {
		return nil, cmp.Or(late, err)
	}
	actor := access.ActorFrom(ctx)
	c := &confirmation{surface: s, args: args, said: said}
	c.want = requestState{Graph: s.graph.ID(), Actor: actor.Key(), Tool: name}
	if actor != nil {
		c.want.Tenant = actor.Tenant
	}
	meta := metaOf(m)
	if c.forms = meta.version >= statelessVersion && meta.forms; c.forms {
		if err := c.readAnswer(m); err != nil {
			return nil, err
		}
	}
	res, err := s.call(servedgraph.WithConfirmer(ctx, c.confirm), name, args)
	if c.asked == nil || err != nil {
		return res, err
	}
	return c.ask()
}

// readAnswer reads the members of the params that continue a call.
func (c *confirmation) readAnswer(m *message) error {
	var p struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   string                     `json:"requestState"`
	}
	if err := json.Unmarshal(m.params, &p); err != nil {
		return malformedParams(m, err)
	}
	c.state = p.RequestState
	if raw := p.InputResponses[confirmMember]; raw != nil {
		c.answer = new(mcp.ElicitResult)
		if err := json.Unmarshal(raw, c.answer); err != nil {
			return invalidParams("params.inputResponses." + confirmMember + ": expected the answer to a form, with an action")
		}
	}
	return nil
}

// confirm implements [servedgraph.Confirmer]. A form is for the heads that the branches had when the server
// sent it; the argument confirm is for any.
func (c *confirmation) confirm(s tool.Step, digest [sha256.Size]byte) (bound bool, err error) {
	need := &wireerror.Unconfirmed{What: s.What}
	switch {
	case !c.forms && c.said:
		return false, nil
	case !c.forms:
		return false, need
	}
	canonical := append(jsontext.Value{}, c.args...)
	_ = canonical.Canonicalize() // the tool has read the arguments, so they are valid JSON or nothing
	c.want.Args, c.want.Step = sha256.Sum256(canonical), digest
	found, ok := c.open()
	if ok && c.answer != nil {
		agreed, _ := c.answer.Content[confirmMember].(bool)
		if c.answer.Action == "accept" && agreed {
			return true, nil
		}
		need.Declined = true
		return false, need
	}
	need.Changed = found && !ok && c.answer != nil
	asked := c.want
	asked.Expires = c.surface.graph.Now().Add(confirmWithin)
	c.asked, c.message = &asked, need.Question()
	return false, need
}

// open opens the state that the client sent. The result `found` reports whether this server made the
// state; `ok` reports whether it belongs to this call and has not expired.
func (c *confirmation) open() (found, ok bool) {
	plain, sealed := c.surface.graph.OpenState(c.state)
	if !sealed {
		return false, false
	}
	var state requestState
	if json.Unmarshal(plain, &state) != nil {
		return false, false
	}
	expires := state.Expires
	state.Expires = time.Time{}
	return true, state == c.want && c.surface.graph.Now().Before(expires)
}

// ask returns the result that asks the user.
func (c *confirmation) ask() (mcp.Result, error) {
	b, err := encoding.JSON(c.asked)
	if err != nil {
		return nil, err
	}
	form := &mcp.ElicitParams{
		Mode: "form", Message: c.message,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"` + confirmMember + `":{"type":"boolean","title":"Yes, do it","default":false}},"required":["` + confirmMember + `"]}`),
	}
	return &inputRequired{
		ResultType: "input_required", RequestState: c.surface.graph.SealState(b), InputRequests: mcp.InputRequestMap{confirmMember: form},
	}, nil
}

// takeConfirm returns the arguments of a call without the member confirm, and whether that member is
// true.
func takeConfirm(args []byte) (rest []byte, said bool, err error) {
	if len(args) == 0 || args[0] != '{' || !bytes.Contains(args, []byte(`"`+confirmMember+`"`)) {
		return args, false, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(args, &members); err != nil {
		return args, false, nil // the tool reports what is wrong
	}
	raw, ok := members[confirmMember]
	if !ok {
		return args, false, nil
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, false, invalidParams("params.arguments." + confirmMember + ": expected true or false")
	}
	delete(members, confirmMember)
	rest, err = json.Marshal(members)
	return rest, said, err
}

// withConfirm returns the input schema of a tool with the argument confirm.
func withConfirm(schema json.RawMessage) (json.RawMessage, error) {
	d := jsontext.NewDecoder(bytes.NewReader(schema))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		isProperties := name.String() == "properties"
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if !isProperties {
			continue
		}
		end := int(d.InputOffset()) - 1 // of the brace that closes the properties
		comma := ","
		if len(bytes.Trim(v, "{} \t\r\n")) == 0 {
			comma = ""
		}
		out := append(json.RawMessage{}, schema[:end]...)
		out = append(out, comma+`"`+confirmMember+`":`+confirmProperty...)
		return append(out, schema[end:]...), nil
	}
	return nil, errors.New("the input schema has no member properties")
}
