package mcp

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/reviewkey"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file has the app in which a person reviews a proposal where the agent works (SEP-1865), and the tool with which the app decides. The
// connection is the agent's, so a decision must be signed with a review key of the person, and is made with the person's rights. That the
// tool is for apps only is a matter of display: a call without the key decides nothing, whoever makes it.

const (
	appsExtension = "io.modelcontextprotocol/ui"
	reviewURI     = "ui://omnigraph/review"
	reviewMedia   = "text/html;profile=mcp-app"

	decideName  = "proposal_decide"
	showingTool = "proposal_get" // the tool whose answers the app shows
	mergeWord   = "merge"        // besides the decisions of a review

	maxSigned = 128 // bytes of each id, digest and signature
)

// reviewApp is the app: one file, which loads nothing.
//
//go:embed review.html
var reviewApp string

// decideTool describes the tool to clients that have apps.
var decideTool = &mcp.Tool{
	Name: decideName, Title: "Decide about a proposal", Description: "For the review app: a decision that the person signs with a review key.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"proposal":{"type":"string"},"key":{"type":"string"},"decision":{"type":"string","enum":["approve","request_changes","merge"]},` +
		`"digest":{"type":"string"},"comment":{"type":"string"},"nonce":{"type":"string"},"signature":{"type":"string"}},"required":["proposal","key"],"additionalProperties":false}`),
	Meta: mcp.Meta{"ui": map[string]any{"resourceUri": reviewURI, "visibility": []string{"app"}}},
}

// hasApps reports whether the client declares that it shows apps: in the _meta of a request or in its initialize.
func hasApps(ctx context.Context, meta mcp.Meta) bool {
	capabilities, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, ok := extensions[appsExtension]
	return ok || ctx.Value(appsKey{}) != nil
}

// The server keeps no sessions. A client of a version with initialize that declares apps there gets a session id that says so, which it sends
// with every later request. The id needs no secret, because what it brings is display and no right.
const (
	sessionHeader = "Mcp-Session-Id"
	appsSession   = "apps-" // the beginning of the id
)

type appsKey struct{}

// withApps puts into the context that the client declared apps in its initialize.
func withApps(ctx context.Context) context.Context { return context.WithValue(ctx, appsKey{}, true) }

// newAppsSession returns a session id that says that the client shows apps.
func newAppsSession() string { return appsSession + rand.Text() }

// declaresApps reports whether a message is an initialize of a client that shows apps.
func declaresApps(m *message) bool {
	var p mcp.InitializeParams
	if m.method != "initialize" || json.Unmarshal(m.params, &p) != nil || p.Capabilities == nil {
		return false
	}
	_, ok := p.Capabilities.Extensions[appsExtension]
	return ok
}

// withApp adds the app to the list of tools for a client that shows apps, if the caller sees the tool whose answers the app shows.
func withApp(tools []*mcp.Tool) []*mcp.Tool {
	for i, t := range tools {
		if t.Name == showingTool {
			shown := *t
			shown.Meta = mcp.Meta{"ui": map[string]any{"resourceUri": reviewURI}}
			tools[i] = &shown
			return append(tools, decideTool)
		}
	}
	return tools
}

// readReviewApp reads the app. It has nothing of the graph, so that every caller may read it.
func (s *surface) readReviewApp(context.Context) (mcp.Result, error) {
	return &mcp.ReadResourceResult{Cacheable: private(listTTL), Contents: []*mcp.ResourceContents{{
		URI: reviewURI, MIMEType: reviewMedia, Text: reviewApp, Meta: mcp.Meta{"ui": map[string]any{"prefersBorder": true}},
	}}}, nil
}

// decide answers a call of the tool: without a signature with a nonce, and otherwise with the proposal after the decision.
func (s *surface) decide(ctx context.Context, args json.RawMessage) (mcp.Result, error) {
	o := arguments.Members(args)
	text := func(name string) string {
		if t := o.OptString(name); t != nil {
			return *t
		}
		return ""
	}
	d := reviewkey.Decision{Proposal: o.String("proposal"), Digest: text("digest"), Comment: text("comment")}
	if word := o.OptEnum("decision", client.DecisionApprove, client.DecisionRequest, mergeWord); word != nil {
		d.Decision = *word
	}
	key, nonce, signature := o.String("key"), text("nonce"), text("signature")
	if d.Decision != "" && d.Digest == "" {
		o.Fail("digest", "missing, expected the digest of the changes that the person saw", "")
	}
	for _, a := range []struct{ name, text string }{{"proposal", d.Proposal}, {"key", key}, {"nonce", nonce}, {"signature", signature}, {"digest", d.Digest}} {
		if len(a.text) > maxSigned { // before the audit trail or a nonce keeps it
			o.Fail(a.name, fmt.Sprintf("found %d bytes, expected at most %d", len(a.text), maxSigned), "")
		}
	}
	if err := o.Done(); err != nil {
		return s.answered(ctx, nil, err)
	}
	refused := func(err error) (mcp.Result, error) { // in the audit trail too
		_, err = s.graph.Do(ctx, access.ActorFrom(ctx), decideName, &operations.Refused{Err: err, Log: []string{d.Proposal, d.Decision}}, s.graph.ForModel())
		return s.answered(ctx, nil, err)
	}
	keys := s.graph.ReviewKeys()
	if d.Decision == "" {
		made, err := keys.Nonce(key, d.Proposal, access.ActorFrom(ctx).Name())
		if err != nil {
			return refused(err)
		}
		b, err := encoding.JSON(map[string]string{"nonce": made})
		return &toolAnswer{json: b}, err
	}
	person, err := keys.Check(key, nonce, signature, &d)
	if err != nil {
		return refused(err)
	}
	var call tool.Call = operations.ReviewProposal(d.Proposal, client.ProposalReviewBody{Decision: d.Decision, Digest: d.Digest, Comment: d.Comment})
	if d.Decision == mergeWord {
		call = operations.MergeProposal(d.Proposal, client.ProposalMergeBody{Digest: d.Digest, Comment: d.Comment})
	}
	answer, err := s.graph.Do(access.WithActor(ctx, person), person, decideName, call, s.graph.ForModel())
	return s.answered(ctx, answer, err)
}
