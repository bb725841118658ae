// Package clientconfig adds an MCP server to the configuration files of MCP clients. It leaves the
// rest of the files unchanged.
package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Server is a server that a client starts and talks to over standard input and output.
type Server struct {
	Name    string   // letters, digits, _ and -
	Command []string // the program and its arguments
	Env     []string // names of the environment variables that the client passes to the server
}

// Client is an MCP client. This package can edit the configuration file of the client.
type Client struct {
	name string                 // value of --client
	path func() (string, error) // returns the usual path of the configuration file
	form form                   // how the file lists servers
}

// form is the format of the list of servers in a client's file.
type form interface {
	// merge returns the file's text with the server added. The text may be empty.
	merge(text []byte, s Server) ([]byte, error)

	// expands reports whether the format can refer to environment variables.
	expands() bool
}

// clients are the supported MCP clients.
var clients = []*Client{
	{"claude-code", inFolder(".mcp.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "${%s}"), variables: true}},
	{"claude-desktop", inConfig("Claude", "claude_desktop_config.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "")}},
	{"cursor", inHome(".cursor", "mcp.json"), jsonForm{at: "/mcpServers", entry: stdioEntry("", "${env:%s}"), variables: true}},
	{"vscode", inFolder(".vscode", "mcp.json"), jsonForm{at: "/servers", entry: stdioEntry("stdio", "${env:%s}"), variables: true}},
	{"codex", inHome(".codex", "config.toml"), tomlForm{}},
	{"opencode", inFolder("opencode.json"), jsonForm{at: "/mcp", entry: opencodeEntry, variables: true}},
}

// Names returns the names of the clients.
func Names() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

// Lookup returns the client with that name.
func Lookup(name string) (*Client, bool) {
	for _, c := range clients {
		if c.name == name {
			return c, true
		}
	}
	return nil, false
}

// Path returns the file that the client reads. It is the user's file, or the file in the current
// folder if the client has a file for each project.
func (c *Client) Path() (string, error) { return c.path() }

// ExpandsEnv reports whether the client's file can list the environment variables that the server
// gets. If not, the server gets the environment of the client.
func (c *Client) ExpandsEnv() bool { return c.form.expands() }

// Merge returns the text of a configuration file with the server added. It replaces a server of the
// same name.
func (c *Client) Merge(text []byte, s Server) ([]byte, error) { return c.form.merge(text, s) }

// Install adds the server to a file. It creates the file if there is none. It keeps the old content
// in file.bak. Install reports whether the file changed.
func (c *Client) Install(file string, s Server) (changed bool, err error) {
	// Follow a link and write the file that it points to, so that the link stays.
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

// write writes a file atomically: it appears with its whole content or not at all.
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

// inFolder returns a function that returns a path in the current folder.
func inFolder(parts ...string) func() (string, error) {
	return func() (string, error) { return filepath.Join(parts...), nil }
}

// inHome returns a function that returns a path in the user's home folder.
func inHome(parts ...string) func() (string, error) { return under(os.UserHomeDir, parts) }

// inConfig returns a function that returns a path in the user's configuration folder.
func inConfig(parts ...string) func() (string, error) { return under(os.UserConfigDir, parts) }

// under returns a function that joins `parts` to the folder that the function `base` returns.
func under(base func() (string, error), parts []string) func() (string, error) {
	return func() (string, error) {
		dir, err := base()
		if err != nil {
			return "", err
		}
		return filepath.Join(append([]string{dir}, parts...)...), nil
	}
}
