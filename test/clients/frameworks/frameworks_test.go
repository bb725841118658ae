// Package frameworks runs the programs of docs/frameworks against a built server. The model of each is a script, so that
// no call leaves the machine; everything else is the framework's own: its client of MCP and its loop of an agent.
package frameworks

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tokens of the actors of policy.yaml.
const (
	writer = "ada-0123456789abcdef0123456789abcdef"
	reader = "rob-0123456789abcdef0123456789abcdef"
)

// serve starts the built server with the graph of gq init, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../../bin") // make builds the commands
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../internal/codegen/scaffold/templates")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cluster.yaml"), read(t, "cluster.yaml"))
	write(t, filepath.Join(dir, "policy.yaml"), read(t, "policy.yaml"))
	run(t, dir, nil, filepath.Join(bin, "omnigraph"), "cluster", "apply")
	for _, graph := range []string{"data/team", "data/flat"} {
		run(t, dir, nil, filepath.Join(bin, "omnigraph"), "load", "--store", graph, "--data", "seed.jsonl")
	}

	server := exec.Command(filepath.Join(bin, "omnigraph-server"), "--cluster", dir, "--bind", "127.0.0.1:0")
	server.Env = append(os.Environ(), "OMNIGRAPH_TOKEN_ACT_ADA="+writer, "OMNIGRAPH_TOKEN_ACT_ROB="+reader)
	var log strings.Builder
	server.Stderr = &log
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "OMNIGRAPH_LISTEN_ADDR="); ok {
			return address
		}
	}
	server.Wait()
	t.Fatalf("the server did not start:\n%s", log.String())
	return ""
}

// run runs a command to its end, and returns what it prints.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program returns the first program in a language of a page, for the server at an address.
func program(t *testing.T, page, lang, address string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, filepath.Join("../../../docs/frameworks", page)), "```"+lang+"\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !ended || !strings.Contains(text, "127.0.0.1:8080") {
		t.Fatalf("%s has no program in %s that calls 127.0.0.1:8080", page, lang)
	}
	return strings.ReplaceAll(text, "127.0.0.1:8080", address)
}

// tokens are the variables of a program that plays the script.
func tokens(lang string) []string {
	return []string{"OMNIGRAPH_TOKEN=" + writer, "READER_TOKEN=" + reader, "SLUG=remind-late-" + strings.ReplaceAll(lang, "_", "-")}
}

func TestPython(t *testing.T) {
	if os.Getenv("OMNIGRAPH_TEST_FRAMEWORKS") == "" {
		t.Skip("make test-frameworks runs this test")
	}
	address := serve(t)
	for page, folder := range map[string]string{
		"langchain.md": "langchain", "llamaindex.md": "llamaindex", "pydantic-ai.md": "pydantic_ai", "openai-agents.md": "openai_agents",
	} {
		t.Run(folder, func(t *testing.T) {
			run(t, "../../..", nil, "test/venv.sh", filepath.Join("test/clients/frameworks", folder))
			python, err := filepath.Abs(filepath.Join(folder, ".venv/bin/python"))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "guide.py"), program(t, page, "python", address))
			write(t, filepath.Join(dir, "script.py"), read(t, "script.py"))
			write(t, filepath.Join(dir, "main.py"), read(t, filepath.Join(folder, "main.py")))
			t.Log(run(t, dir, tokens(folder), python, "main.py"))
		})
	}
}

// TestOfficialClient calls stored queries with the official client in Python.
func TestOfficialClient(t *testing.T) {
	if os.Getenv("OMNIGRAPH_TEST_FRAMEWORKS") == "" {
		t.Skip("make test-frameworks runs this test")
	}
	address := serve(t)
	run(t, "../../..", nil, "test/venv.sh", "test/clients/frameworks/official")
	t.Log(run(t, "official", tokens("official"), ".venv/bin/python", "main.py", address))
}

func TestTypeScript(t *testing.T) {
	if os.Getenv("OMNIGRAPH_TEST_FRAMEWORKS") == "" {
		t.Skip("make test-frameworks runs this test")
	}
	address := serve(t)
	run(t, "vercel", nil, "npm", "ci", "--silent", "--no-audit", "--no-fund")
	modules, err := filepath.Abs("vercel/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "tsconfig.json", "main.ts"} {
		write(t, filepath.Join(dir, name), read(t, filepath.Join("vercel", name)))
	}
	write(t, filepath.Join(dir, "guide.ts"), program(t, "vercel-ai.md", "ts", address))
	node := filepath.Join(modules, ".bin/node") // Vercel AI needs Node 22
	run(t, dir, nil, node, filepath.Join(modules, "typescript/bin/tsc"))
	t.Log(run(t, dir, tokens("vercel"), node, "main.js"))
}
