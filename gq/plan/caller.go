package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The members that actor() always has.
const (
	CallerID     = "id"     // the id of the caller, a String
	CallerGroups = "groups" // the groups in the caller's token, a list of Strings that may be empty
)

// Claims are the types of the claims that queries may use as members of actor(), by name. The types are nullable, because
// a token may lack a claim.
type Claims map[string]value.Type

// claimKinds are the kinds that a claim, or an element of a list of claims, may have.
var claimKinds = []value.Kind{value.String, value.Bool, value.I32, value.I64, value.F64, value.Date, value.DateTime}

// Declare adds a claim with a type that a configuration writes as a text, such as String or [I64]. The error says what is wrong
// with the name or the type, and how to correct it.
func (c *Claims) Declare(name, text string) error {
	t, err := parseClaim(name, text)
	if err != nil {
		return err
	}
	if *c == nil {
		*c = Claims{}
	}
	if other, ok := (*c)[name]; ok && !other.Equal(t) {
		return fmt.Errorf("the claim %s has the type %s here and %s elsewhere; give it one type", name, t.Required(), other.Required())
	}
	(*c)[name] = t
	return nil
}

// parseClaim checks the name of a claim, and returns the type that a text such as String or [I64] stands for.
func parseClaim(name, text string) (value.Type, error) {
	if name == CallerID || name == CallerGroups {
		return value.Type{}, fmt.Errorf("the claim %s has the name of a member that actor() always has; give it another name", name)
	}
	if !isMember(name) {
		return value.Type{}, fmt.Errorf("the claim %q is not a name; write a lower-case letter first, then letters, digits or _", name)
	}
	inner, list := strings.CutPrefix(text, "[")
	if list {
		inner, list = strings.CutSuffix(inner, "]")
	}
	for _, k := range claimKinds {
		if k.String() == inner && (list || inner == text) {
			return value.Type{Kind: k, List: list, Nullable: true}, nil
		}
	}
	names := make([]string, len(claimKinds))
	for i, k := range claimKinds {
		names[i] = k.String()
	}
	return value.Type{}, fmt.Errorf("the claim %s has the type %q; write one of %s, or a list such as [String]", name, text, strings.Join(names, ", "))
}

// isMember reports whether a query can write a name after actor().
func isMember(name string) bool {
	for i, r := range name {
		if !(r >= 'a' && r <= 'z' || r == '_' || i > 0 && (r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')) {
			return false
		}
	}
	return name != ""
}

// TypeOf returns the type of a member of actor().
func (c Claims) TypeOf(member string) (value.Type, bool) {
	switch member {
	case CallerID:
		return value.Of(value.String), true
	case CallerGroups:
		return value.Type{Kind: value.String, List: true}, true
	}
	t, ok := c[member]
	return t, ok
}

// Members returns the names of the members of actor(): id, groups, and the claims in the order of the alphabet.
func (c Claims) Members() []string {
	return append([]string{CallerID, CallerGroups}, c.Names()...)
}

// Names returns the names of the claims in the order of the alphabet.
func (c Claims) Names() []string { return slices.Sorted(maps.Keys(c)) }

// Misfit says why a caller with these claims cannot run a query, or is "": the query uses a claim that is not among them, or
// that has another type there.
func (c Claims) Misfit(q *Query) string {
	for _, p := range q.OfCaller() {
		switch t, ok := c.TypeOf(p.Caller); {
		case !ok:
			return fmt.Sprintf("it uses %s, but the configuration maps no claim %s; add it to server.claims", p.Name, p.Caller)
		case !t.Equal(p.Type):
			return fmt.Sprintf("it uses %s as %s, but the configuration gives the claim the type %s", p.Name, p.Type.Required(), t.Required())
		}
	}
	return ""
}

// CallerName returns the name of the parameter for a member of actor().
func CallerName(member string) string { return "actor()." + member }

// Declared returns the parameters that the query declares: those without [Param.Caller], which come first.
func Declared(params []Param) []Param {
	for i := range params {
		if params[i].Caller != "" {
			return params[:i]
		}
	}
	return params
}

// Declared returns the parameters that the query declares, whose arguments are from the caller.
func (q *Query) Declared() []Param { return Declared(q.Params) }

// OfCaller returns the parameters whose arguments say who the caller is. If there are any, the rows belong to that caller.
func (q *Query) OfCaller() []Param { return q.Params[len(q.Declared()):] }

// Members returns the members of actor() that the query uses, such as actor().id.
func (q *Query) Members() []string {
	var names []string
	for _, p := range q.OfCaller() {
		names = append(names, p.Name)
	}
	return names
}
