package client

import (
	"context"
	"encoding/json"
	"net/url"
	"time"
)

// AuditRecord is a call in the audit trail.
type AuditRecord struct {
	EndedAt        int64    `json:"ended_at" jsonschema_description:"When the call ended, in Unix microseconds."`
	DurationMicros int64    `json:"duration_micros"`  // how long it took, in microseconds
	ActorID        *string  `json:"actor_id"`         // who made the call; null if nobody did, or if the actor was forgotten
	Agents         []string `json:"agents,omitempty"` // the agents that acted for the actor, the current one first
	Tool           string   `json:"tool"`             // the tool or operation; empty for an unknown one
	Branch         string   `json:"branch,omitempty"` // empty for a call that concerns no branch
	Decision       string   `json:"decision" jsonschema:"enum=allowed,enum=denied" jsonschema_description:"What the policy decided."`
	DeniedAction   string   `json:"denied_action,omitempty"` // the action that was denied
	Rules          []string `json:"rules,omitempty" jsonschema_description:"The rules that allowed the call or denied the action. A denied call without rules is one that no rule allows."`
	Outcome        string   `json:"outcome"` // ok, or why the call failed
	Rows           int      `json:"rows"`    // rows of the answer
	Entities       []string `json:"entities,omitempty" jsonschema_description:"The ids of the first 100 entities of the answer."`
	More           int      `json:"more_entities,omitempty" jsonschema_description:"The number of further entities, of which the trail has hashes."`
	Whole          bool     `json:"whole_branch,omitempty" jsonschema_description:"The answer may have values of any entity of the branch; the trail does not list them."`
	Possibly       bool     `json:"possibly,omitempty" jsonschema_description:"The answer may have had the entity of the request: one of the hashes fits, or whole_branch is true."`
	GraphCommitID  *string  `json:"graph_commit_id"`   // the commit that the call read or made
	Types          []string `json:"types,omitempty"`   // the types that the query uses
	Filters        []string `json:"filters,omitempty"` // the filters of the policy that applied
	Digest         string   `json:"arguments_digest,omitempty" jsonschema_description:"A keyed digest of the arguments: calls of a tool with equal arguments have equal digests."`

	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema_description:"The arguments, if server.audit.values is true."`
	RequestID string          `json:"request_id,omitempty"` // the id of the request
	Server    string          `json:"server"`               // the server that answered
	Number    uint64          `json:"number"`               // of the record in the chain of that server
}

// AuditAnswer is a page of the audit trail of a graph.
type AuditAnswer struct {
	Records       []AuditRecord `json:"records" jsonschema_description:"The calls, the latest first."`
	NextPageToken *string       `json:"next_page_token" jsonschema_description:"Send it as page_token for earlier calls; null if there are none."`
}

// CallTally counts calls.
type CallTally struct {
	Calls     int   `json:"calls"`
	Failed    int   `json:"failed"`     // calls that did not succeed, with the denied ones
	Denied    int   `json:"denied"`     // calls that the policy denied
	P99Micros int64 `json:"p99_micros"` // 99 of 100 calls took this long or less, in microseconds
}

// ToolTally counts the calls of a tool.
type ToolTally struct {
	Tool string `json:"tool"` // the tool or operation; empty for unknown ones
	CallTally
}

// ActorTally counts the calls of an actor.
type ActorTally struct {
	ActorID *string  `json:"actor_id"`         // null for calls that nobody made, and for forgotten actors
	Agents  []string `json:"agents,omitempty"` // the agents that acted for the actor, the current one first
	CallTally
}

// HourTally counts the calls of an hour.
type HourTally struct {
	From int64 `json:"from" jsonschema_description:"The start of the hour, in Unix microseconds."`
	CallTally
}

// AuditSummary counts the calls of a graph in the last 24 hours.
type AuditSummary struct {
	From     int64        `json:"from"` // the start of the 24 hours, in Unix microseconds
	To       int64        `json:"to"`   // their end
	Complete bool         `json:"complete" jsonschema_description:"Every call was counted; otherwise only the latest ones, at most 200,000."`
	All      CallTally    `json:"all"`
	Hours    []HourTally  `json:"hours" jsonschema_description:"The 24 hours, the oldest first."`
	Tools    []ToolTally  `json:"tools" jsonschema_description:"The 50 tools with the most calls, the most called first."`
	Actors   []ActorTally `json:"actors" jsonschema_description:"The 50 actors with the most calls, the most active first."`
}

// AuditSummary counts the calls of the graph in the last 24 hours. It needs the permission audit_read.
func (g *Graph) AuditSummary(ctx context.Context) (*AuditSummary, error) {
	return ask[AuditSummary](ctx, g.c, reading(g.path+"/audit/summary", url.Values{}))
}

// AuditQuery selects records of the audit trail. An empty field selects all.
type AuditQuery struct {
	Actor     string    // the actor, or an agent that acted for it
	Tool      string    // the tool or operation
	Except    string    // a tool or operation whose calls are left out
	Entity    string    // the id of an entity that the answer had
	Decision  string    // allowed or denied
	Outcome   string    // how the call ended, such as ok; failed for each outcome but ok
	From, To  time.Time // calls that ended at From or later, and before To
	Limit     int       // records of a page; 0 for the default of the server
	PageToken string    // of the page before
}

// Audit lists calls in the audit trail of the graph, the latest first. It needs the permission audit_read.
func (g *Graph) Audit(ctx context.Context, a AuditQuery) (*AuditAnswer, error) {
	q := reading(g.path+"/audit", url.Values{})
	setText(q.query, "actor", a.Actor)
	setText(q.query, "tool", a.Tool)
	setText(q.query, "except", a.Except)
	setText(q.query, "entity", a.Entity)
	setText(q.query, "decision", a.Decision)
	setText(q.query, "outcome", a.Outcome)
	for name, t := range map[string]time.Time{"from": a.From, "to": a.To} {
		if !t.IsZero() {
			setText(q.query, name, t.UTC().Format(time.RFC3339Nano))
		}
	}
	setNumber(q.query, "limit", a.Limit)
	setText(q.query, "page_token", a.PageToken)
	return ask[AuditAnswer](ctx, g.c, q)
}
