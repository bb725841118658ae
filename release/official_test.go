package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// The sources of the published rules. Both are fetched from the registries of their packages.
const (
	bundleTool     = "@anthropic-ai/mcpb@2.1.2"                        // validates the manifest of a bundle
	registryModule = "github.com/modelcontextprotocol/registry@v1.8.8" // has the schemas of server.json
)

// TestOfficialRules validates the manifest of the bundle with the tool of its format, and server.json with
// the schema of the MCP registry. It needs npm and the network.
func TestOfficialRules(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm: the tool that validates bundles cannot be fetched")
	}
	dir := t.TempDir()
	if out, err := exec.Command("npm", "install", "--prefix", dir, "--silent", "--no-audit", "--no-fund", "--ignore-scripts", bundleTool).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	manifest := filepath.Join(dir, "manifest.json")
	text, err := fs.ReadFile(bundleOf(t), "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(dir, "node_modules", ".bin", "mcpb"), "validate", manifest).CombinedOutput()
	if err != nil {
		t.Errorf("mcpb validate: %v\n%s", err, out)
	}
	t.Logf("%s", out)

	download := exec.Command("go", "mod", "download", "-json", registryModule)
	download.Dir, download.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err = download.Output(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	// The URL of the schema is …/DATE/server.schema.json, and the file is DATE.json.
	text, err = os.ReadFile(filepath.Join(module.Dir, "internal", "validators", "schemas", path.Base(path.Dir(registrySchema))+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	var server any
	if err = json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read(t, "server.json"), &server); err != nil {
		t.Fatal(err)
	}
	rules, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := rules.Validate(server); err != nil {
		t.Errorf("server.json: %v", err)
	}
	delete(server.(map[string]any), "name")
	if rules.Validate(server) == nil {
		t.Error("the schema accepts a server without a name")
	}
}
