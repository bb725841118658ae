package cluster

import (
	"regexp"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// envReference matches a reference to the environment variable that holds a secret.
var envReference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// secret reads the name of the environment variable that holds a secret. Its fault reports do not
// repeat the text of the file, because that text may be the secret itself.
func secret(n *strictyaml.Node, what string) (env string) {
	if n == nil {
		return ""
	}
	if !n.IsText() {
		n.Fault(strictyaml.ClearSecret, what+" must refer to an environment variable", `write "${NAME}" and set NAME`)
		return ""
	}
	s, ok := n.Text(what)
	if !ok {
		return ""
	}
	m := envReference.FindStringSubmatch(s)
	if m == nil {
		n.Fault(strictyaml.ClearSecret, what+" is written in the file itself", `write "${NAME}" and set NAME; replace the secret, because others may have read it here`)
		return ""
	}
	return m[1]
}
