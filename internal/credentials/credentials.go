// Package credentials finds the bearer token that a client sends to a server. It looks in the
// environment, then in the user's configuration, and then for a login. For each server, the
// configuration contains a token, a command that prints the token, or an entry of the system's keyring
// that holds it. A login has tokens of an issuer, which this package renews. No error of this package
// contains a token.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

const (
	// TokenVar is the environment variable that holds the token for every server.
	TokenVar = "OMNIGRAPH_TOKEN"

	// ServerVarPrefix begins the names of the environment variables that each hold the token for
	// one server; see [ServerVar]. A server takes the tokens of its actors from variables with
	// another prefix.
	ServerVarPrefix = "OMNIGRAPH_CLIENT_TOKEN_"

	// ConfigName is the path of the user's configuration, as messages show it.
	ConfigName = "~/.omnigraph/config.yaml"
)

// Credential is a token, or the way to get one.
type Credential struct {
	place   string   // where it was found, for errors
	token   string   // the token; "" if one of the others is set
	command []string // a program with its arguments; it prints the token
	keyring string   // the service of an entry of the system's keyring
	server  string   // the user name of that entry, or the server of the login
	login   bool     // the token is that of a login at the server

	// Stderr receives the standard error of a command, and warnings. Nil discards both.
	Stderr io.Writer
}

// Find returns the credential for a server, or nil if there is none. The variable of [ServerVar]
// takes precedence over [TokenVar], and both take precedence over the user's configuration, which takes
// precedence over a login. The error says what is wrong with the configuration.
func Find(server string) (*Credential, error) {
	c, err := findStated(server)
	if c != nil || err != nil {
		return c, err
	}
	l, err := FindLogin(server)
	if l == nil || err != nil {
		return nil, err
	}
	return &Credential{place: "your login at " + loginKey(server), login: true, server: loginKey(server)}, nil
}

// Place says where the credential was found, for a message.
func (c *Credential) Place() string { return c.place }

// IsLogin reports whether the token is that of a login.
func (c *Credential) IsLogin() bool { return c.login }

// findStated returns the credential that the environment or the user's configuration states for a server, or nil.
func findStated(server string) (*Credential, error) {
	for _, name := range []string{ServerVar(server), TokenVar} {
		if token := os.Getenv(name); name != "" && token != "" {
			return &Credential{place: "the environment variable " + name, token: token}, nil
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, nil // without a home folder there is no configuration
	}
	path := filepath.Join(home, ".omnigraph", "config.yaml")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Size() > strictyaml.MaxBytes:
		return nil, fmt.Errorf("%s has %d bytes; the maximum is %d", path, info.Size(), strictyaml.MaxBytes)
	}
	if err := private(path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return InFile(path, text, server)
}

// private returns an error if others than its owner can read a file with tokens.
func private(path string) error {
	info, err := os.Stat(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("other users can read the tokens in %s (mode %03o); correct this with: chmod 600 %s", path, info.Mode().Perm(), shellescape.Quote(path))
	}
	return err
}

// ServerVar returns the name of the environment variable with the token for the server at a URL, or
// "" if the URL is malformed. The name is [ServerVarPrefix] and the host in upper case, with the port
// and the path if the URL has them. Each hyphen becomes two underscores, and each other character
// that is not an ASCII letter or a digit becomes one: the variable for
// https://graph.example.com is OMNIGRAPH_CLIENT_TOKEN_GRAPH_EXAMPLE_COM.
func ServerVar(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return ""
	}
	place := u.Hostname()
	if port := u.Port(); port != "" && !(u.Scheme == "https" && port == "443") && !(u.Scheme == "http" && port == "80") {
		place += ":" + port
	}
	var b strings.Builder
	b.WriteString(ServerVarPrefix)
	for _, r := range strings.ToUpper(place + strings.TrimRight(u.Path, "/")) {
		switch {
		case 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case r == '-':
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// InFile finds the credential for a server in the text of a configuration. It returns nil if the text
// has none. The error is a diag.List.
func InFile(path string, text []byte, server string) (*Credential, error) {
	r := strictyaml.ReadSecret(path, text)
	var found *Credential
	if f, ok := r.Root().Mapping("the configuration", Settings); ok {
		servers, _ := f["servers"].Entries("servers")
		for _, e := range servers {
			f, ok := e.Value.Mapping("a server", serverSettings)
			if !ok {
				continue
			}
			n := e.Value.Require(f, "token", "a server")
			mine := strings.TrimSuffix(e.Key, "/") == strings.TrimSuffix(server, "/")
			if c := readToken(n, mine); c != nil && mine {
				c.server = strings.TrimSuffix(e.Key, "/")
				found = c
			}
		}
	}
	if faults := r.Faults(); faults.HasErrors() {
		return nil, diag.List(faults)
	}
	return found, nil
}

// readToken reads a token, or the way to get one. If the text refers to an environment variable,
// readToken looks it up only if the token is needed.
func readToken(n *strictyaml.Node, needed bool) *Credential {
	if n == nil {
		return nil
	}
	c := &Credential{place: n.Span().String()}
	if n.IsText() {
		token, ok := n.Text("token")
		if !ok {
			return nil
		}
		if name, isVar := envName(token); isVar && needed {
			if token = os.Getenv(name); token == "" {
				n.Fault(strictyaml.BadValue, "the environment variable "+name+" is not set", "set it to the token, or write the token here")
			}
		}
		c.token = token
		return c
	}
	f, ok := n.Mapping("token", sourceSettings)
	switch {
	case !ok:
		return nil
	case len(f) != 1:
		n.Fault(strictyaml.Missing, "token must have exactly one of the keys command and keyring", `write the token, {command: ["program", "argument"]} or {keyring: "service"}`)
		return nil
	case f["keyring"] != nil:
		c.keyring, ok = f["keyring"].Text("keyring")
	case f["command"] != nil:
		ok = c.readCommand(f["command"])
	default:
		return nil // a misspelt key, which is reported
	}
	if !ok {
		return nil
	}
	return c
}

// readCommand reads the value of the key `command`. It reports faults at the node `n`.
func (c *Credential) readCommand(n *strictyaml.Node) bool {
	list, ok := n.List("command")
	if !ok {
		return false
	}
	for _, word := range list {
		s, ok := word.Text("a word of command")
		if !ok {
			return false
		}
		c.command = append(c.command, s)
	}
	switch {
	case len(list) == 0:
		n.Fault(strictyaml.Missing, "command names no program", `write ["program", "argument"]`)
		return false
	case strings.ContainsRune(c.command[0], filepath.Separator) && !filepath.IsAbs(c.command[0]):
		n.Fault(strictyaml.BadValue, "the program in command is a relative path, which names a different file in each folder", "write its full path, or the name of a program in PATH")
		return false
	}
	return true
}

// envName returns the name in a reference such as ${NAME}.
func envName(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, "${")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, "}")
}

// Token returns the token. Each call runs the command, or reads the keyring or the login.
func (c *Credential) Token(ctx context.Context) (string, error) {
	t, err := c.get(ctx)
	return t.Access, err
}

// get returns the token, with what is known of when it ends.
func (c *Credential) get(ctx context.Context) (t Tokens, err error) {
	switch {
	case c.command != nil:
		t.Access, err = c.run(ctx)
	case c.keyring != "":
		t.Access, err = c.fromKeyring(ctx)
	case c.login:
		return c.fromLogin(ctx)
	default:
		t.Access = c.token
	}
	return t, err
}

// Source returns a function that returns the token for a request. It gets the token once, and again only when the token of a login has
// expired. One request at a time gets it; the others wait, until their contexts end.
func (c *Credential) Source() func(context.Context) (string, error) {
	busy := make(chan struct{}, 1)
	var kept Tokens
	return func(ctx context.Context) (string, error) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if kept.Access != "" && kept.fresh() {
			return kept.Access, nil
		}
		var err error
		kept, err = c.get(ctx)
		return kept.Access, err
	}
}
