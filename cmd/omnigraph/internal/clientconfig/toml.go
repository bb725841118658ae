package clientconfig

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// tomlForm is the file of Codex, which has a table mcp_servers.NAME for each server.
type tomlForm struct{}

// expands implements form.
func (tomlForm) expands() bool { return true }

// tomlServers is the table that contains a table for each server.
const tomlServers = "mcp_servers"

// merge implements form.
func (tomlForm) merge(text []byte, s Server) ([]byte, error) {
	before, err := parseTOML(text)
	if err != nil {
		return nil, fmt.Errorf("the file is not TOML: %w", err)
	}
	section, err := toml.Marshal(map[string]any{tomlServers: map[string]any{s.Name: tomlEntry(s)}})
	if err != nil {
		return nil, err
	}
	wanted, err := parseTOML(section)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(serverOf(before, s.Name), serverOf(wanted, s.Name)) {
		return text, nil
	}
	// Write only the server's section; its parent table needs no header.
	own := strings.TrimSpace(strings.TrimPrefix(string(section), "["+tomlServers+"]\n"))
	merged := removeTable(string(text), tomlServers+"."+s.Name)
	if merged = strings.TrimRight(merged, "\n"); merged != "" {
		merged += "\n\n"
	}
	merged += own + "\n"
	// The sections were found by their header lines. A table in another notation, such as an inline
	// table, could be lost. So compare the settings before and after.
	after, err := parseTOML([]byte(merged))
	if err != nil || !reflect.DeepEqual(serverOf(after, s.Name), serverOf(wanted, s.Name)) || !reflect.DeepEqual(withoutServer(after, s.Name), withoutServer(before, s.Name)) {
		return nil, fmt.Errorf("the entry %s.%s of the file is not written as a separate table; remove the entry, or edit the file by hand", tomlServers, s.Name)
	}
	return []byte(merged), nil
}

// tomlEntry returns the table that describes s.
func tomlEntry(s Server) map[string]any {
	e := map[string]any{"command": s.Command[0], "args": s.Command[1:]}
	if len(s.Env) > 0 {
		e["env_vars"] = s.Env
	}
	return e
}

// parseTOML decodes the tables of a TOML text.
func parseTOML(text []byte) (map[string]any, error) {
	v := map[string]any{}
	return v, toml.Unmarshal(text, &v)
}

// serverOf returns the entry of a server, or nil if the file has none.
func serverOf(v map[string]any, name string) any {
	servers, _ := v[tomlServers].(map[string]any)
	return servers[name]
}

// withoutServer returns the content of a file without the server.
func withoutServer(v map[string]any, name string) map[string]any {
	out := map[string]any{}
	for k, m := range v {
		if servers, ok := m.(map[string]any); ok && k == tomlServers {
			others := map[string]any{}
			for n, s := range servers {
				if n != name {
					others[n] = s
				}
			}
			if m = others; len(others) == 0 {
				continue
			}
		}
		out[k] = m
	}
	return out
}

// removeTable removes the table of that name and its subtables.
func removeTable(text, table string) string {
	var b strings.Builder
	inside := false
	for l := range strings.Lines(text) {
		if header := strings.TrimSpace(l); strings.HasPrefix(header, "[") {
			header = strings.Trim(strings.TrimSpace(strings.SplitN(header, "#", 2)[0]), "[]")
			inside = header == table || strings.HasPrefix(header, table+".")
		}
		if !inside {
			b.WriteString(l)
		}
	}
	return b.String()
}
