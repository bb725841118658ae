// Package clientconfig writes an MCP server into the configuration files of MCP
// clients, and leaves all else in them as it is.
package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Server is a server that a client starts and speaks to over standard input and output.
type Server struct {
	Name    string   // letters, digits, _ and -
	Command []string // the program and its arguments
	Env     []string // names of variables that it takes from the client's environment
}

// Client is a client whose configuration is known.
type Client struct {
	name string
	path func() (string, error)
	form form
}

// form is how a client's file says what servers there are.
type form interface {
	// merge returns the file's text with the server in it. The text may be empty.
	merge(text []byte, s Server) ([]byte, error)

	// expands reports whether the form can take variables from the environment.
	expands() bool
}

var clients = []*Client{
	{"claude-code", inFolder(".mcp.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "${%s}"), variables: true}},
	{"claude-desktop", inConfig("Claude", "claude_desktop_config.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "")}},
	{"cursor", inHome(".cursor", "mcp.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "${env:%s}"), variables: true}},
	{"vscode", inFolder(".vscode", "mcp.json"), jsonForm{at: "/servers", entry: stdioEntry("stdio", "${env:%s}"), variables: true}},
	{"codex", inHome(".codex", "config.toml"), tomlForm{}},
	{"opencode", inFolder("opencode.json"), jsonForm{at: "/mcp", entry: opencodeEntry, variables: true}},
}

// Names lists the clients.
func Names() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

// Lookup returns the client of that name.
func Lookup(name string) (*Client, bool) {
	for _, c := range clients {
		if c.name == name {
			return c, true
		}
	}
	return nil, false
}

// Path returns the file that the client reads: the user's, or that of the current
// folder where the client has files for projects.
func (c *Client) Path() (string, error) { return c.path() }

// ExpandsEnv reports whether the client's file can say which variables the server gets
// from the environment; otherwise it gets what the client has.
func (c *Client) ExpandsEnv() bool { return c.form.expands() }

// Merge returns the text of a configuration file with the server in it, in the place
// of one that has its name.
func (c *Client) Merge(text []byte, s Server) ([]byte, error) { return c.form.merge(text, s) }

// Install merges the server into a file, which is made if there is none. What was
// there before is kept in file.bak. It reports whether the file changed.
func (c *Client) Install(file string, s Server) (changed bool, err error) {
	// A link stays one, to a file that is written.
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o600)
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return false, err
		}
	case err != nil:
		return false, err
	default:
		info, err := os.Stat(file)
		if err != nil {
			return false, err
		}
		mode = info.Mode().Perm()
	}
	text, err := c.Merge(old, s)
	if err != nil {
		return false, fmt.Errorf("%s: %w; nothing was written", file, err)
	}
	if string(text) == string(old) {
		return false, nil
	}
	if old != nil {
		if err := write(file+".bak", old, mode); err != nil {
			return false, err
		}
	}
	return true, write(file, text, mode)
}

// write writes a file that appears whole or not at all.
func write(file string, text []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func inFolder(parts ...string) func() (string, error) {
	return func() (string, error) { return filepath.Join(parts...), nil }
}

func inHome(parts ...string) func() (string, error) { return under(os.UserHomeDir, parts) }

func inConfig(parts ...string) func() (string, error) { return under(os.UserConfigDir, parts) }

func under(base func() (string, error), parts []string) func() (string, error) {
	return func() (string, error) {
		dir, err := base()
		if err != nil {
			return "", err
		}
		return filepath.Join(append([]string{dir}, parts...)...), nil
	}
}
