package cluster

import (
	"regexp"

	"github.com/omnigraph-go/omnigraph/server/strictyaml"
)

// envReference is how a secret is named without being told.
var envReference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// What is read here is checked in form and then refused: a setting that is taken
// and not carried out would deceive whoever wrote it.

// unsupported refuses a setting that the server does not carry out.
func unsupported(n *strictyaml.Node, what, help string) {
	n.AtKey().Fault(strictyaml.Unsupported, what+" is not supported yet", help)
}

func (p *reader) oidc(n *strictyaml.Node) {
	f, ok := n.Fields("oidc", "issuer", "audience", "actor_claim", "groups")
	if !ok {
		return
	}
	f["issuer"].Text("issuer")
	f["audience"].Text("audience")
	f["actor_claim"].Text("actor_claim")
	groups, _ := f["groups"].Entries("oidc.groups")
	for _, g := range groups {
		g.Value.Text("oidc.groups")
	}
	unsupported(n, "oidc", "use bearer tokens: OMNIGRAPH_TOKENS_FILE or OMNIGRAPH_TOKEN_<ACTOR>")
}

// secret reads the name of the environment variable that holds a secret. The report of
// a fault does not repeat what it found.
func secret(n *strictyaml.Node, what string) (env string) {
	if n == nil {
		return ""
	}
	if !n.IsText() {
		n.Fault(strictyaml.ClearSecret, what+" is not a reference to the environment", `write "${NAME}" and set NAME`)
		return ""
	}
	s, ok := n.Text(what)
	if !ok {
		return ""
	}
	m := envReference.FindStringSubmatch(s)
	if m == nil {
		n.Fault(strictyaml.ClearSecret, what+" stands in the clear", `write "${NAME}" and set NAME; the secret that stood here is known now, so replace it`)
		return ""
	}
	return m[1]
}
