package launch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/golden"
	"github.com/omnigraph-go/omnigraph/internal/helppage"
)

// TestHelp checks the help of the server and its subcommands against the style rules.
func TestHelp(t *testing.T) {
	helppage.Check(t, newCommand(Program{}))
}

// TestReferenceIsFresh compares the committed reference with the output of the docs command.
func TestReferenceIsFresh(t *testing.T) {
	golden.Check(t, "../../docs/reference/omnigraph-server.md", []byte(executed(t, "docs")))
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"--cluster ":     ":16",
		"--bind ":        ":4",
		"health --addr ": ":4",
		"h":              "health\nhelp\n:4",
	} {
		if got := executed(t, append([]string{"__completeNoDesc"}, strings.Split(line, " ")...)...); strings.TrimSpace(got) != want {
			t.Errorf("%q completes to %q, want %q", line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if !strings.Contains(executed(t, "completion", shell), "omnigraph-server") {
			t.Errorf("there is no completion for %s", shell)
		}
	}
}

// executed runs the command and returns its output.
func executed(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := newCommand(Program{})
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(new(bytes.Buffer))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
