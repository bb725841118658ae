package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// bundleOf returns the content of the bundle for this machine.
func bundleOf(t *testing.T) *zip.Reader {
	t.Helper()
	archive := read(t, stem()+".mcpb")
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestBundle checks the manifest of the bundle for MCP clients against the rules of version 0.4. It
// then does what a client does: it unpacks the bundle, fills in the settings, runs the command and
// calls a tool.
func TestBundle(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, bundleOf(t)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m bundleManifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.ManifestVersion != "0.4" || m.Name == "" || m.Version != strings.TrimPrefix(testVersion, "v") || m.Description == "" || m.Author.Name == "" {
		t.Errorf("the manifest lacks a required member:\n%s", text)
	}
	for _, p := range m.Compatibility.Platforms {
		if !slices.Contains([]string{"darwin", "win32", "linux"}, p) {
			t.Errorf("the platform %q is none of MCPB", p)
		}
	}
	if m.Server.Type != "binary" || !strings.HasSuffix(m.Server.Config.Command, m.Server.EntryPoint) {
		t.Errorf("the server is %+v", m.Server)
	}
	for name, f := range m.UserConfig {
		if f.Type != "string" || f.Title == "" || f.Description == "" {
			t.Errorf("the setting %s is %+v", name, f)
		}
	}

	installed := unpacked(t)
	i := installation{omnigraph: filepath.Join(installed, "omnigraph"), server: filepath.Join(installed, "omnigraph-server"), cluster: installed}
	addr := i.serve(t, "--cluster", installed, "--bind", "127.0.0.1:0")
	settings := strings.NewReplacer("${__dirname}", dir, "${user_config.server_url}", "http://"+addr, "${user_config.graph}", "code", "${user_config.token}", token)
	cmd := exec.Command(settings.Replace(m.Server.Config.Command))
	for _, arg := range m.Server.Config.Args {
		cmd.Args = append(cmd.Args, settings.Replace(arg))
	}
	for name, value := range m.Server.Config.Env {
		cmd.Env = append(cmd.Env, name+"="+settings.Replace(value))
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "heaviest_packages"})
	if err != nil || res.IsError {
		t.Errorf("a call over the bundle: %v, %+v", err, res)
	}
}

// TestServerJSON checks the rules of the schema 2025-12-11 of the MCP registry, and the further rules
// of the registry for images and bundles.
func TestServerJSON(t *testing.T) {
	var s registryServer
	if err := json.Unmarshal(read(t, "server.json"), &s); err != nil {
		t.Fatal(err)
	}
	if s.Schema != registrySchema || s.Version != strings.TrimPrefix(testVersion, "v") {
		t.Errorf("the schema is %q and the version %q", s.Schema, s.Version)
	}
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(s.Name) {
		t.Errorf("the name is %q, not a reverse-DNS name with one slash", s.Name)
	}
	if len(s.Description) == 0 || len(s.Description) > 100 || len(s.Title) == 0 || len(s.Title) > 100 {
		t.Errorf("the description has %d bytes and the title %d, both must have 1 to 100", len(s.Description), len(s.Title))
	}
	if s.Repository.URL == "" || s.Repository.Source != "github" {
		t.Errorf("the repository is %+v", s.Repository)
	}
	bundles := 0
	for _, p := range s.Packages {
		if p.Identifier == "" || p.Transport.Type != "stdio" {
			t.Errorf("the package is %+v", p)
		}
		switch p.Type {
		case "oci":
			if p.Version != "" || !strings.HasSuffix(p.Identifier, ":"+s.Version) {
				t.Errorf("the image is %s with version %q; its tag must be the version", p.Identifier, p.Version)
			}
			for _, a := range append(p.RuntimeArgs, p.PackageArgs...) {
				if a.Value == "" || (a.Type == "named") != (a.Name != "") {
					t.Errorf("the argument is %+v", a)
				}
				for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(a.Value, -1) {
					if _, ok := a.Variables[m[1]]; !ok {
						t.Errorf("the argument %s has no variable %s", a.Value, m[1])
					}
				}
			}
		case "mcpb":
			bundles++
			name := p.Identifier[strings.LastIndexByte(p.Identifier, '/')+1:]
			if p.Sum != artifact.Sum(read(t, name)) || !strings.HasPrefix(p.Identifier, "https://github.com/") {
				t.Errorf("the bundle is %+v", p)
			}
		default:
			t.Errorf("the type of a package is %q", p.Type)
		}
	}
	if len(s.Packages) != bundles+1 || bundles != 1 {
		t.Errorf("there are %d packages, %d of them bundles", len(s.Packages), bundles)
	}
}

// TestCask checks that the cask names the archive, its sum, and programs that the archive has.
func TestCask(t *testing.T) {
	cask, archive := string(read(t, project+".rb")), read(t, stem()+".tar.gz")
	key := map[string]string{"amd64": "x86_64_linux", "arm64": "arm64_linux"}[platform.Arch]
	if want := fmt.Sprintf("%s: %q", key, artifact.Sum(archive)); !strings.Contains(cask, want) {
		t.Errorf("the cask does not have %s:\n%s", want, cask)
	}
	fill := strings.NewReplacer("#{version}", strings.TrimPrefix(testVersion, "v"), "#{os}", platform.OS, "#{arch}", platform.Arch)
	url := regexp.MustCompile(`(?m)^  url "(.*)"$`).FindStringSubmatch(cask)
	if url == nil || fill.Replace(url[1]) != (&builder{version: testVersion}).download(stem()+".tar.gz") {
		t.Errorf("the address is %q", url)
	}
	dir := filepath.Dir(unpacked(t))
	programs := regexp.MustCompile(`(?m)^  binary "(.*)"$`).FindAllStringSubmatch(cask, -1)
	for _, m := range programs {
		if info, err := os.Stat(filepath.Join(dir, fill.Replace(m[1]))); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("the program %s: %v, %v", m[1], info, err)
		}
	}
	if len(programs) != 3 {
		t.Errorf("the cask has %d programs", len(programs))
	}
}

// TestBillOfMaterials checks that the bill of materials lists every module that the linker recorded
// in a program, and the sum of the program.
func TestBillOfMaterials(t *testing.T) {
	var doc struct {
		SPDXVersion       string `json:"spdxVersion"`
		DocumentNamespace string
		Packages          []struct {
			Name, VersionInfo string
		}
		Files []struct {
			FileName  string
			Checksums []struct{ Algorithm, ChecksumValue string }
		}
	}
	if err := json.Unmarshal(read(t, stem()+".spdx.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.SPDXVersion != "SPDX-2.3" || !strings.HasPrefix(doc.DocumentNamespace, "https://") {
		t.Errorf("the document is %s in the namespace %s", doc.SPDXVersion, doc.DocumentNamespace)
	}
	listed := map[string]bool{}
	for _, p := range doc.Packages {
		listed[p.Name+" "+p.VersionInfo] = true
	}
	sums := map[string]string{}
	for _, f := range doc.Files {
		for _, c := range f.Checksums {
			if c.Algorithm == "SHA256" {
				sums[f.FileName] = c.ChecksumValue
			}
		}
	}
	dir := unpacked(t)
	licences, err := os.ReadFile(filepath.Join(dir, "THIRD-PARTY-LICENCES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"gq", "omnigraph", "omnigraph-server"} {
		b, err := os.ReadFile(filepath.Join(dir, program))
		if err != nil {
			t.Fatal(err)
		}
		if sums["./"+program] != artifact.Sum(b) {
			t.Errorf("the sum of %s is %s", program, sums["./"+program])
		}
		info, err := buildinfo.Read(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for _, setting := range info.Settings {
			if setting.Key == "-tags" { // the tag faults compiles the faults of package fault in
				t.Errorf("%s was built with the tags %s; a release has none", program, setting.Value)
			}
		}
		if len(info.Deps) < 10 || !listed[module+" "+testVersion] {
			t.Errorf("%s has %d modules", program, len(info.Deps))
		}
		for _, m := range info.Deps {
			if !listed[m.Path+" "+m.Version] {
				t.Errorf("%s contains %s %s, which is not listed", program, m.Path, m.Version)
			}
			if !bytes.Contains(licences, []byte("\n"+m.Path+" "+m.Version+", ")) {
				t.Errorf("THIRD-PARTY-LICENCES has no licence of %s %s", m.Path, m.Version)
			}
		}
	}
}

// TestSums checks checksums.txt against all other files.
func TestSums(t *testing.T) {
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, e := range entries {
		if e.Name() != artifact.SumsFile {
			fmt.Fprintf(&want, "%s  %s\n", artifact.Sum(read(t, e.Name())), e.Name())
		}
	}
	if got := string(read(t, artifact.SumsFile)); got != want.String() || len(entries) != 10 {
		t.Errorf("the sums of %d files are\n%s, want\n%s", len(entries), got, want.String())
	}
}

// TestBuildFaults checks that the command refuses wrong arguments before it builds.
func TestBuildFaults(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "old"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "use build or push"},
		{[]string{"publish"}, `unknown command "publish"`},
		{[]string{"build", "-version", "0.1.0"}, `the version is "0.1.0"; give one such as v0.1.0`},
		{[]string{"build", "-version", "v0.1"}, `the version is "v0.1"`},
		{[]string{"build", "-version", "v0.1.0", "-commit", "a b"}, "the commit is"},
		{[]string{"build", "-version", "v0.1.0", "-platforms", "plan9/386"}, `the platform is "plan9/386"; choose from linux/amd64`},
		{[]string{"build", "-version", "v0.1.0", "-out", full}, "is not empty; remove it"},
		{[]string{"push", "-image", "none.tar", "-to", "ghcr.io/x/y"}, "give a name with a tag"},
		{[]string{"push", "-image", "none.tar", "-to", "ghcr.io/x/y:1"}, "none.tar"},
	} {
		if err := run(t.Context(), c.args, io.Discard); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("release %q: %v, want %q", c.args, err, c.says)
		}
	}
}
