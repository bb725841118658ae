package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// shelved writes a small archive for each platform, and the files of all shelves for them. It returns their folder. The
// programs in the archives are scripts that print their name.
func shelved(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	create := func(name string, write func(io.Writer) error) error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		defer f.Close()
		return write(f)
	}
	at, err := artifact.Epoch()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range artifact.Platforms {
		var files []artifact.File
		for _, name := range []string{"gq", "omnigraph", "omnigraph-server", "LICENSE"} {
			files = append(files, artifact.File{Name: name, Mode: 0o755, Data: []byte("#!/bin/sh\necho " + name + " for " + p.String() + "\n")})
		}
		pack, ending := artifact.WriteTarGz, ".tar.gz"
		if p.OS == "windows" {
			pack, ending = artifact.WriteZip, ".zip"
		}
		if err := create(stemFor(p)+ending, func(w io.Writer) error { return pack(w, artifact.Below(stemFor(p), files), at) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&builder{version: testVersion}).shelve(dir, create); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sumOf returns the sum of a file.
func sumOf(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return artifact.Sum(content)
}

// installs runs install.sh with the archives of a server, and returns its output.
func installs(t *testing.T, script, downloads, to string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", script, to)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "OMNIGRAPH_DOWNLOADS=" + downloads}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestInstallScript runs install.sh against a server of files: it installs and replaces the programs, and installs nothing from
// an archive that another sum has, or that is not there.
func TestInstallScript(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	dir := shelved(t)
	ts := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer ts.Close()
	script, to := filepath.Join(dir, "install.sh"), filepath.Join(t.TempDir(), "a folder", "bin")
	for range 2 {
		out, err := installs(t, script, ts.URL, to)
		if err != nil || !strings.Contains(out, "Add "+to+" to PATH.") {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, program := range []string{"gq", "omnigraph", "omnigraph-server"} {
			if printed, err := exec.Command(filepath.Join(to, program)).Output(); string(printed) != program+" for "+platform.String()+"\n" {
				t.Errorf("%s prints %q, %v", program, printed, err)
			}
		}
	}
	if entries, err := os.ReadDir(to); err != nil || len(entries) != 3 {
		t.Errorf("the folder has %v, %v", entries, err)
	}

	nowhere := filepath.Join(t.TempDir(), "bin")
	archive := filepath.Join(dir, stem()+".tar.gz")
	if err := os.Truncate(archive, 100); err != nil {
		t.Fatal(err)
	}
	if out, err := installs(t, script, ts.URL, nowhere); err == nil || !strings.Contains(out, "nothing is installed") {
		t.Errorf("a changed archive: %v\n%s", err, out)
	}
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
	if out, err := installs(t, script, ts.URL, nowhere); err == nil || !strings.Contains(out, "cannot download") {
		t.Errorf("a missing archive: %v\n%s", err, out)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("the script made the folder, although it installs nothing")
	}
}

// TestScoop reads the manifest for Scoop.
func TestScoop(t *testing.T) {
	dir := shelved(t)
	text, err := os.ReadFile(filepath.Join(dir, "omnigraph.json"))
	if err != nil {
		t.Fatal(err)
	}
	type archive struct {
		URL, Hash  string
		ExtractDir string `json:"extract_dir"`
	}
	var m struct {
		Version, Description, Homepage, License string
		Architecture                            map[string]archive
		Bin                                     []string
		Autoupdate                              struct{ Architecture map[string]archive }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.Version != strings.TrimPrefix(testVersion, "v") || m.Description == "" || m.Homepage != homepage || m.License != licence || len(m.Bin) != 3 {
		t.Errorf("the manifest is %+v", m)
	}
	for name, arch := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		want := stemFor(artifact.Platform{OS: "windows", Arch: arch})
		a := m.Architecture[name]
		if a.URL != (&builder{version: testVersion}).download(want+".zip") || a.Hash != sumOf(t, filepath.Join(dir, want+".zip")) || a.ExtractDir != want {
			t.Errorf("%s: %+v", name, a)
		}
		next := m.Autoupdate.Architecture[name]
		if strings.ReplaceAll(next.URL, "$version", m.Version) != a.URL || strings.ReplaceAll(next.ExtractDir, "$version", m.Version) != a.ExtractDir {
			t.Errorf("%s: an update has %+v", name, next)
		}
	}
}

// TestWinGet reads the three manifests for WinGet and checks the required members of schema 1.6.0 and their patterns.
func TestWinGet(t *testing.T) {
	dir := shelved(t)
	read := func(name string, m any) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			decoder := yaml.NewDecoder(strings.NewReader(string(text)))
			decoder.KnownFields(true)
			err = decoder.Decode(m)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	type head struct {
		PackageIdentifier string `yaml:"PackageIdentifier"`
		PackageVersion    string `yaml:"PackageVersion"`
		ManifestType      string `yaml:"ManifestType"`
		ManifestVersion   string `yaml:"ManifestVersion"`
	}
	var version struct {
		head          `yaml:",inline"`
		DefaultLocale string `yaml:"DefaultLocale"`
	}
	var installer struct {
		head                `yaml:",inline"`
		InstallerType       string   `yaml:"InstallerType"`
		NestedInstallerType string   `yaml:"NestedInstallerType"`
		Commands            []string `yaml:"Commands"`
		Installers          []struct {
			Architecture         string `yaml:"Architecture"`
			InstallerURL         string `yaml:"InstallerUrl"`
			InstallerSum         string `yaml:"InstallerSha256"`
			NestedInstallerFiles []struct {
				RelativeFilePath     string `yaml:"RelativeFilePath"`
				PortableCommandAlias string `yaml:"PortableCommandAlias"`
			} `yaml:"NestedInstallerFiles"`
		} `yaml:"Installers"`
	}
	var locale struct {
		head             `yaml:",inline"`
		PackageLocale    string   `yaml:"PackageLocale"`
		Publisher        string   `yaml:"Publisher"`
		PublisherURL     string   `yaml:"PublisherUrl"`
		PackageName      string   `yaml:"PackageName"`
		PackageURL       string   `yaml:"PackageUrl"`
		License          string   `yaml:"License"`
		ShortDescription string   `yaml:"ShortDescription"`
		Moniker          string   `yaml:"Moniker"`
		Tags             []string `yaml:"Tags"`
		ReleaseNotesURL  string   `yaml:"ReleaseNotesUrl"`
	}
	read("OmnigraphGo.Omnigraph.yaml", &version)
	read("OmnigraphGo.Omnigraph.installer.yaml", &installer)
	read("OmnigraphGo.Omnigraph.locale.en-US.yaml", &locale)
	for kind, h := range map[string]head{"version": version.head, "installer": installer.head, "defaultLocale": locale.head} {
		if h.ManifestType != kind || h.ManifestVersion != "1.6.0" || h.PackageIdentifier != "OmnigraphGo.Omnigraph" || h.PackageVersion != strings.TrimPrefix(testVersion, "v") {
			t.Errorf("the manifest %s begins with %+v", kind, h)
		}
	}
	if version.DefaultLocale != locale.PackageLocale || installer.InstallerType != "zip" || installer.NestedInstallerType != "portable" {
		t.Errorf("the manifests are %+v and %+v", version, installer)
	}
	for what, text := range map[string]string{"Publisher": locale.Publisher, "PackageName": locale.PackageName, "License": locale.License, "ShortDescription": locale.ShortDescription} {
		if len(text) < 3 || len(text) > 256 {
			t.Errorf("%s is %q", what, text)
		}
	}
	for i, arch := range []string{"amd64", "arm64"} {
		want := stemFor(artifact.Platform{OS: "windows", Arch: arch})
		x := installer.Installers[i]
		if x.InstallerURL != (&builder{version: testVersion}).download(want+".zip") || x.InstallerSum != strings.ToUpper(sumOf(t, filepath.Join(dir, want+".zip"))) || x.Architecture != []string{"x64", "arm64"}[i] {
			t.Errorf("the archive for %s is %+v", arch, x)
		}
		for j, f := range x.NestedInstallerFiles {
			if f.RelativeFilePath != want+`\`+installer.Commands[j]+".exe" || f.PortableCommandAlias != installer.Commands[j] {
				t.Errorf("the program is %+v", f)
			}
		}
		if len(x.NestedInstallerFiles) != 3 {
			t.Errorf("the archive for %s has %d programs", arch, len(x.NestedInstallerFiles))
		}
	}
}

// TestNix lets Nix read the package, and evaluates its source for each platform with stand-ins for nixpkgs.
func TestNix(t *testing.T) {
	if _, err := exec.LookPath("nix-instantiate"); err != nil {
		t.Skip("nix-instantiate is not installed; on Debian, apt-get install nix-bin")
	}
	dir := shelved(t)
	for nix, p := range map[string]artifact.Platform{
		"x86_64-linux": {OS: "linux", Arch: "amd64"}, "aarch64-linux": {OS: "linux", Arch: "arm64"},
		"x86_64-darwin": {OS: "darwin", Arch: "amd64"}, "aarch64-darwin": {OS: "darwin", Arch: "arm64"},
	} {
		expr := `import ` + filepath.Join(dir, "omnigraph.nix") + ` { lib.licenses.asl20 = "Apache-2.0"; fetchurl = x: x;
			stdenv = { hostPlatform.system = "` + nix + `"; mkDerivation = x: x; }; }`
		cmd := exec.Command("nix-instantiate", "--eval", "--strict", "--json", "--store", "dummy://", "-E", expr)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, err.(*exec.ExitError).Stderr)
		}
		var x struct {
			Version      string
			Src          struct{ URL, Sha256 string }
			InstallPhase string
			Meta         struct{ Platforms []string }
		}
		if err := json.Unmarshal(out, &x); err != nil {
			t.Fatal(err)
		}
		archive := stemFor(p) + ".tar.gz"
		if x.Src.URL != (&builder{version: testVersion}).download(archive) || x.Src.Sha256 != sumOf(t, filepath.Join(dir, archive)) || x.Version != strings.TrimPrefix(testVersion, "v") {
			t.Errorf("%s: %s", nix, out)
		}
		if !slices.Contains(x.Meta.Platforms, nix) || !strings.Contains(x.InstallPhase, "-t $out/bin gq omnigraph omnigraph-server\n") {
			t.Errorf("%s: %s", nix, out)
		}
	}
}

// TestCaskSyntax lets Ruby read the cask.
func TestCaskSyntax(t *testing.T) {
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed")
	}
	if out, err := exec.Command("ruby", "-c", filepath.Join(shelved(t), "omnigraph.rb")).CombinedOutput(); err != nil {
		t.Errorf("ruby -c: %v\n%s", err, out)
	}
}

// TestChart reads the chart of the release. test/manifests renders its templates.
func TestChart(t *testing.T) {
	number := strings.TrimPrefix(testVersion, "v")
	dir := t.TempDir()
	z, err := gzip.NewReader(bytes.NewReader(read(t, project+"-"+number+".tgz")))
	if err == nil {
		err = untar(z, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, project, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), "appVersion", "appversion")), &c); err != nil {
		t.Fatal(err)
	}
	if c.Name != project || c.Version != number || c.AppVersion != number {
		t.Errorf("the chart is %+v", c)
	}
	for _, name := range []string{"values.yaml", "templates/statefulset.yaml", "templates/_container.tpl"} {
		if _, err := os.Stat(filepath.Join(dir, project, name)); err != nil {
			t.Error(err)
		}
	}
}
