package client

import (
	"context"
	"net/url"
)

// AccessAnswer says what an actor may do on a graph, and which rules of the policy decide it.
type AccessAnswer struct {
	Actor  string   `json:"actor"`  // the actor whose permissions are explained, with its agents
	Groups []string `json:"groups"` // the groups of the actor's token, as the request gave them
	Branch string   `json:"branch"` // the branch for which the permissions are explained

	Actors    []string         `json:"actors" jsonschema_description:"The actors that the policy names, sorted."`
	Decisions []AccessDecision `json:"decisions" jsonschema_description:"A decision for each action and, for read and change, for each way of access."`
	Tools     []AccessTool     `json:"tools" jsonschema_description:"The tools of the graph and its stored queries."`
}

// AccessTool says whether an actor sees a tool, and whether the actor may use it on the branch of
// the answer.
type AccessTool struct {
	Name    string           `json:"name"`            // name of the tool
	Title   string           `json:"title"`           // a short name for people
	Query   string           `json:"query,omitempty"` // the stored query that the tool runs
	Visible bool             `json:"visible" jsonschema_description:"tools/list shows the tool to the actor, because the actor may use it on some branch."`
	Needs   []AccessDecision `json:"needs" jsonschema_description:"The decisions about the permissions that the tool needs on the branch of the answer. A call may need more, depending on its arguments."`
}

// AccessDecision says whether the policy allows an action, and which rules decide that.
type AccessDecision struct {
	Action string `json:"action"` // the action, such as read
	// Via says how the action is requested: adhoc, stored or proposal. It is empty for an action
	// whose rules cannot distinguish these.
	Via     string       `json:"via,omitempty"`
	Query   string       `json:"query,omitempty"` // the stored query that the action is about
	Source  string       `json:"source,omitempty" jsonschema_description:"The source that the action is about. Without it, the action is about the sources that no rule names."`
	Allowed bool         `json:"allowed" jsonschema_description:"Whether the policy allows the action. In an answer about the caller, whether the server would: the protection of the branch and the scopes of the token count too."`
	Partial bool         `json:"partial,omitempty" jsonschema_description:"In an answer about the caller: the action is allowed with a part of the branch only."`
	Rules   []AccessRule `json:"rules" jsonschema_description:"The rules that decided. If there are none, the action is denied because no rule allows it."`
	Near    []NearRule   `json:"near,omitempty" jsonschema_description:"The rules that would allow the action if one more condition held."`
	Parts   []AccessPart `json:"parts,omitempty" jsonschema_description:"What the rules show of each type. It is absent if no rule about the action is about a part of the graph, and for a denied action."`
	Reason  string       `json:"reason,omitempty" jsonschema_description:"Why no rule can decide, if that is so, or which actor of a call through an agent is not allowed."`
}

// AccessPart says what rules show of a type, and which rules decide that.
type AccessPart struct {
	Type   string `json:"type"`             // name of the node type or the edge type
	Hidden bool   `json:"hidden,omitempty"` // nothing of the type is shown
	Reason string `json:"reason,omitempty" jsonschema_description:"Why the type is hidden, if no rule that hides it says so."`

	Rows    [][]string   `json:"rows,omitempty" jsonschema_description:"An entity is shown if it passes one filter of each list."`
	NotRows []string     `json:"not_rows,omitempty" jsonschema_description:"An entity is hidden if it passes one of these filters."`
	Without []string     `json:"without,omitempty" jsonschema_description:"The properties that are hidden."`
	Rules   []AccessRule `json:"rules"` // the rules that decided
}

// AccessRule is a rule of a policy.
type AccessRule struct {
	ID   string `json:"id"`             // name of the rule
	Deny bool   `json:"deny"`           // the rule denies; otherwise it allows
	File string `json:"file,omitempty"` // the policy file; a server leaves out its folder
	Line int    `json:"line,omitempty"` // line of the rule in the file, from 1
}

// NearRule is a rule that would allow an action if one more condition held.
type NearRule struct {
	AccessRule
	Missing string `json:"missing"` // the condition that does not hold, as Cedar text
}

// AccessQuery says for which actor and branch [Graph.Access] explains the policy.
type AccessQuery struct {
	Actor  string   // the name of the actor; "ada via bot" for an agent that acts for an actor; empty for the caller
	Groups []string // the groups that the actor's token contains, as the issuer names them
	Branch string   // the branch for which the policy is explained; main if it is empty
}

// Access says what an actor may do on the graph, and which rules of the policy decide it. It needs
// the permission policy_read, except about the caller; then the answer names no rules.
func (g *Graph) Access(ctx context.Context, about AccessQuery) (*AccessAnswer, error) {
	q := reading(g.path+"/access", url.Values{})
	setText(q.query, "actor", about.Actor)
	setText(q.query, "branch", about.Branch)
	for _, group := range about.Groups {
		q.query.Add("group", group)
	}
	return ask[AccessAnswer](ctx, g.c, q)
}
