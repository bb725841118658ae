package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// The environment variables that contain or locate tokens.
const (
	// TokensFileVar is the name of the variable that holds the path of the tokens file.
	TokensFileVar = "OMNIGRAPH_TOKENS_FILE"

	// TokenVarPrefix is the prefix of the variables that each hold one raw token. The rest of the
	// name of such a variable identifies the actor: it is the name of the actor if it is written in
	// lower case and with - for _. For example, OMNIGRAPH_TOKEN_ACT_ADA holds a token of act-ada.
	TokenVarPrefix = "OMNIGRAPH_TOKEN_"
)

// maxToken bounds the length of a static token in bytes, so that hashing stays cheap.
const maxToken = 4096

// Tokens holds the static bearer tokens of a server. It keeps only their SHA-256 digests. Fill it
// before the server starts; after that it is safe for concurrent use, and only Replace changes it.
type Tokens struct {
	claims  plan.Claims             // the claims that the file may give its actors
	entries atomic.Pointer[[]entry] // nil if there are none; a slice that is here does not change
}

// all returns the tokens.
func (t *Tokens) all() []entry {
	if p := t.entries.Load(); p != nil {
		return *p
	}
	return nil
}

// Replace takes the tokens of `from` in place of its own. Requests that were authenticated before go on.
func (t *Tokens) Replace(from *Tokens) { t.entries.Store(from.entries.Load()) }

// entry is the digest of a token with its actor.
type entry struct {
	digest [sha256.Size]byte // of the token
	actor  *access.Actor     // who has the token
}

// Load returns the tokens of an environment. The argument `environ` has the form of os.Environ.
// Load reads the OMNIGRAPH_TOKEN_<ACTOR> variables, and the file at the path in
// OMNIGRAPH_TOKENS_FILE, which may give its actors the claims. It is not an error if none of these variables is set.
func Load(environ []string, claims plan.Claims) (*Tokens, error) {
	t := &Tokens{claims: claims}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == TokensFileVar && value != "" {
			if err := t.ReadFile(value); err != nil {
				return nil, fmt.Errorf("%s: %w", TokensFileVar, err)
			}
		}
		suffix, is := strings.CutPrefix(name, TokenVarPrefix)
		if !is {
			continue
		}
		actor := strings.ReplaceAll(strings.ToLower(suffix), "_", "-")
		if err := t.Add(value, actor); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

// Add adds a raw token for an actor. An actor may have several tokens; a token belongs to one
// actor. The error does not repeat the token.
func (t *Tokens) Add(token, actor string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	return t.add(sha256.Sum256([]byte(token)), &access.Actor{ID: actor})
}

// ReadFile adds the tokens of a YAML file that maps the SHA-256 of each token, as 64 hex digits, to
// its actor: a name or a mapping { actor: NAME, groups: [NAME], claims: { NAME: VALUE } } or, for an agent, { actor: NAME,
// on_behalf_of: ACTOR }, where on_behalf_of is an actor of any of these forms. The error
// is an error of reading the file, or a diag.List that gives positions and never repeats the text of the file.
func (t *Tokens) ReadFile(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return t.parse(path, src)
}

// Len returns the number of tokens.
func (t *Tokens) Len() int { return len(t.all()) }

// Names reports whether an actor has a token, or takes part in a call with the token of an agent.
func (t *Tokens) Names(actor string) bool {
	return slices.ContainsFunc(t.all(), func(e entry) bool { return e.actor.ID == actor || slices.Contains(e.actor.AgentIDs(), actor) })
}

// Verify implements Verifier. It compares the token with every entry, so that its running time does
// not show which entry matched.
func (t *Tokens) Verify(_ context.Context, token string) (*access.Actor, error) {
	if len(token) > maxToken {
		return nil, nil
	}
	digest := sha256.Sum256([]byte(token))
	var actor *access.Actor
	entries := t.all()
	for i := range entries {
		if subtle.ConstantTimeCompare(digest[:], entries[i].digest[:]) == 1 {
			actor = entries[i].actor
		}
	}
	return actor, nil
}

// parse adds the tokens of a tokens file.
func (t *Tokens) parse(path string, src []byte) error {
	r := strictyaml.ReadSecret(path, src)
	if r.Root() == nil && len(r.Faults()) == 0 {
		r.Whole(strictyaml.Missing, "the tokens file is empty", "map the SHA-256 of each token to its actor")
	}
	entries, _ := r.Root().Entries("the tokens file")
	for _, e := range entries {
		var digest [sha256.Size]byte
		// The usual mistake is a raw token in place of the digest, so the message does not repeat
		// the key.
		if n, err := hex.Decode(digest[:], hexOrNothing(e.Key)); err != nil || n != sha256.Size {
			e.At.Fault(strictyaml.BadValue, "a key that is not 64 hex digits",
				"write the token's SHA-256, as printf %s TOKEN | sha256sum prints it")
			continue
		}
		actor, ok := t.tokenActor(e.Value)
		if !ok {
			continue
		}
		if err := t.add(digest, actor); err != nil {
			e.Value.Fault(strictyaml.BadValue, err.Error(), "")
		}
	}
	return r.Faults().Err()
}

// tokenActor reads the actor of a token. In nested on_behalf_of, the outermost actor is the agent that holds the token, and the innermost
// value is the actor for whom all agents act. actor.Agents lists the agents from the outermost to the innermost. tokenActor reports
// false if it cannot read an actor; then the file has a fault.
func (t *Tokens) tokenActor(n *strictyaml.Node) (*access.Actor, bool) {
	actor := &access.Actor{}
	for n.Has("on_behalf_of") {
		f, ok := n.Fields("the actor", "actor", "on_behalf_of")
		if !ok {
			return nil, false
		}
		agent, of := n.Require(f, "actor", "the agent"), n.Require(f, "on_behalf_of", "the agent")
		if agent == nil || of == nil {
			return nil, false
		}
		id, ok := agent.Text("the agent")
		if !ok {
			return nil, false
		}
		if len(actor.Agents) == engine.MaxAgents {
			agent.Fault(strictyaml.TooLarge, fmt.Sprintf("more than %d agents act for each other", engine.MaxAgents), fmt.Sprintf("leave out agents, so that at most %d remain", engine.MaxAgents))
			return nil, false
		}
		actor.Agents, n = append(actor.Agents, access.Agent{ID: id}), of
	}
	if n.IsMapping() {
		return actor, t.readActor(n, actor)
	}
	id, ok := n.Text("the actor")
	actor.ID = id
	return actor, ok
}

// readActor reads the id, the groups and the claims of an actor. It reports false if it cannot read the id or a claim. All faults, also
// those of the groups and of claims that are no mapping, are among the faults of the file, which fail the file.
func (t *Tokens) readActor(n *strictyaml.Node, actor *access.Actor) bool {
	f, ok := n.Fields("the actor", "actor", "groups", "claims")
	if !ok {
		return false
	}
	id := n.Require(f, "actor", "the holder of the token")
	if id == nil {
		return false
	}
	actor.ID, ok = id.Text("the actor")
	groups, _ := f["groups"].Texts("groups")
	for _, g := range groups {
		actor.Groups = append(actor.Groups, g.Key)
	}
	entries, _ := f["claims"].Entries("claims")
	for _, e := range entries {
		typ, known := t.claims[e.Key]
		if !known {
			e.At.Unknown(strictyaml.UnknownName, "claim", e.Key, "server.claims of cluster.yaml", t.claims.Names())
			ok = false
			continue
		}
		v, read := claims.FromYAML(e.Value, "claims."+e.Key, typ)
		if !read {
			ok = false
			continue
		}
		if actor.Claims == nil {
			actor.Claims = map[string]value.Value{}
		}
		actor.Claims[e.Key] = v
	}
	return ok
}

// add adds a token's digest for an actor.
func (t *Tokens) add(digest [sha256.Size]byte, actor *access.Actor) error {
	agents := actor.AgentIDs()
	for _, id := range append([]string{actor.ID}, agents...) {
		if err := checkActor(id); err != nil {
			return err
		}
	}
	if err := checkAgents(actor.ID, agents); err != nil {
		return fmt.Errorf("the token %w; leave on_behalf_of out for a token of the actor itself", err)
	}
	for _, e := range t.all() {
		if e.digest != digest {
			continue
		}
		if e.actor.Name() != actor.Name() {
			return fmt.Errorf("this token already belongs to another actor; give each actor its own token")
		}
		if !slices.Equal(sorted(e.actor.Groups), sorted(actor.Groups)) || !maps.EqualFunc(e.actor.Claims, actor.Claims, value.Equal) {
			return fmt.Errorf("this token is given twice, with different groups or claims; remove one, such as the variable %s… if the tokens file has it too", TokenVarPrefix)
		}
		return nil
	}
	actor.Source = "token"
	entries := append(slices.Clip(t.all()), entry{digest, actor})
	t.entries.Store(&entries)
	return nil
}

// sorted returns a list in order, and each element once.
func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// hexOrNothing returns s as bytes if it has the length of a digest in hex, and nil otherwise.
// Without this check, hex.Decode could write beyond the digest.
func hexOrNothing(s string) []byte {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return nil
	}
	return []byte(s)
}

// checkToken checks that token can follow "Bearer " (RFC 6750, section 2.1: b64token). A client
// could not present any other token.
func checkToken(token string) error {
	switch {
	case token == "":
		return fmt.Errorf("the token is empty; set one, such as the output of openssl rand -hex 32")
	case len(token) > maxToken:
		return fmt.Errorf("the token has %d bytes, expected at most %d; set a shorter one, such as the output of openssl rand -hex 32", len(token), maxToken)
	case !isB64Token(token):
		return fmt.Errorf("the token holds a character that a header cannot carry; expected letters, digits and -._~+/, then any = signs")
	}
	return nil
}

// isB64Token reports whether s has the form of a bearer token according to RFC 6750.
func isB64Token(s string) bool {
	body := strings.TrimRight(s, "=")
	for _, c := range []byte(body) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/", c) >= 0) {
			return false
		}
	}
	return body != ""
}

// checkActor checks that an actor's name can be shown unescaped in logs, policies and commits. The
// error does not repeat the name, because a digest or token may be there by mistake.
func checkActor(actor string) error {
	if actor == "" || len(actor) > 128 {
		return fmt.Errorf("the actor's name has %d bytes, expected 1 to 128", len(actor))
	}
	for _, c := range []byte(actor) {
		if c <= ' ' || c >= 0x7f {
			return fmt.Errorf("the actor's name holds a blank or a character outside ASCII; expected a name such as act-ada")
		}
	}
	return nil
}
