//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
)

// quickstartBlock matches a fenced block of the page: commands, or a file with its name.
var quickstartBlock = regexp.MustCompile("(?ms)^```(sh|gq)(?: (\\S+))?\n(.*?)^```$")

// quickstartQuery matches the head of a query.
var quickstartQuery = regexp.MustCompile(`(?m)^query (\w+)\(`)

func quickstart(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/quickstart.md")
	if err != nil {
		t.Fatal(err)
	}
	return quickstartBlock.FindAllStringSubmatch(string(text), -1)
}

// TestQuickstartTellsTheSteps checks that the page has the commands that gq init prints.
func TestQuickstartTellsTheSteps(t *testing.T) {
	m := scaffold.Module{Path: "brain", Bind: "127.0.0.1:8080"}
	var commands []string
	for _, b := range quickstart(t) {
		if b[1] == "sh" {
			commands = append(commands, strings.Split(strings.TrimSpace(b[3]), "\n")...)
		}
	}
	page := strings.Join(commands, "\n")
	if want := strings.Join(append(append([]string{"cd brain"}, m.Steps()...), m.Call()), "\n"); !strings.Contains(page, want) {
		t.Errorf("the page has\n%s\nbut gq init prints\n%s", page, want)
	}
}

// TestQuickstart types the commands of the page in order and saves its files. This checkout stands
// for the clone of the repository, and the server uses a free port.
func TestQuickstart(t *testing.T) {
	if os.Getenv(initVar) == "" {
		t.Skip(initVar + " is not set; run make test-init")
	}
	work, bind := t.TempDir(), freeAddress(t)
	if err := os.Symlink(checkout(t), filepath.Join(work, "omnigraph")); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(work, "brain")
	where, front := work, openTerminal(t, work)
	var server *terminal
	answers := [][2]string{{"document", "pricing-study"}, {"name", "Rob Lindqvist"}}
	for _, b := range quickstart(t) {
		if b[1] == "gq" {
			if err := os.WriteFile(filepath.Join(module, filepath.FromSlash(b[2])), []byte(b[3]), 0o644); err != nil {
				t.Fatal(err)
			}
			server.wait("gq dev, after "+b[2]+" was saved", "query   + "+quickstartQuery.FindStringSubmatch(b[3])[1], 10*time.Minute)
			continue
		}
		if server != nil && strings.Contains(b[3], "bin/omnigraph-server") { // which replaces gq dev
			server.interrupt(time.Minute)
		}
		for command := range strings.Lines(b[3]) {
			command = strings.ReplaceAll(strings.TrimSpace(command), "127.0.0.1:8080", bind)
			word, _, _ := strings.Cut(command, " ")
			switch {
			case word == "git": // the clone is already there
			case word == "bin/omnigraph-server" || strings.HasPrefix(command, "go tool gq dev"):
				server = front
				server.start(command, "Serving;", 20*time.Minute)
				front = openTerminal(t, where)
			case word == "curl":
				if server == nil || len(answers) == 0 {
					t.Fatalf("no answer is known of %s", command)
				}
				checkAnswer(t, front.run(command, time.Minute), answers[0][0], answers[0][1])
				answers = answers[1:]
			case word == "cd":
				where = module
				front.run(command, time.Minute)
			default:
				front.run(command, 10*time.Minute)
			}
		}
	}
	if len(answers) > 0 {
		t.Errorf("%d calls were not made", len(answers))
	}
	if server != nil {
		server.interrupt(time.Minute)
	}
}
