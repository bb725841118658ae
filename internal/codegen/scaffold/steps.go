package scaffold

import (
	"fmt"
	"net"

	"al.essio.dev/pkg/shellescape"
)

// CompileNote explains the silence of the first command that starts with go tool.
const CompileNote = "The first command that starts with go tool compiles the program and prints nothing for a while."

// fillStore returns the commands that create the graph and load the seed data.
func (m *Module) fillStore() []string {
	return []string{
		"go tool omnigraph cluster apply",
		"go tool omnigraph load --store data/" + m.graph() + " --data seed.jsonl --mode overwrite",
	}
}

// Steps returns the commands that lead from the new module to a running server, for a POSIX shell
// in the module's folder. The last one runs until it is stopped, and applies each save.
func (m *Module) Steps() []string {
	var steps []string
	if m.Workspace {
		steps = append(steps, "go work use .")
	}
	return append(steps, "go mod tidy", "go tool gq dev --seed seed.jsonl --bind "+shellescape.Quote(m.Bind))
}

// BuildSteps returns the commands that build the server of the module and start it.
func (m *Module) BuildSteps() []string {
	steps := append([]string{"go generate ./...", "go test ./...", "go build -o bin/ ./cmd/..."}, m.fillStore()...)
	return append(steps, "bin/omnigraph-server --dev --bind "+shellescape.Quote(m.Bind))
}

// Call returns a command that calls one of the module's stored queries on the running server over
// MCP.
func (m *Module) Call() string {
	return fmt.Sprintf(`curl -s %s -H "Authorization: Bearer $(cat data/dev-token)" `+
		`-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' `+
		`-d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"why","arguments":{"params":{"slug":"price-by-invoice"}}}}'`,
		shellescape.Quote("http://"+m.localAddress()+"/graphs/"+m.graph()+"/mcp"))
}

// localAddress returns the address of the server for clients on this machine.
func (m *Module) localAddress() string {
	host, port, err := net.SplitHostPort(m.Bind)
	if err != nil || host != "" && host != "0.0.0.0" && host != "::" {
		return m.Bind
	}
	return net.JoinHostPort("127.0.0.1", port)
}
