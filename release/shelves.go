package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// shelves are the files from which package managers, and the script install.sh, install the archives.
var shelves = []struct {
	name string   // of the file, and of its template in the folder shelves
	os   []string // whose archives it lists; the file is left out if none of them was built
}{
	{"omnigraph.rb", []string{"darwin", "linux"}},                    // a Homebrew cask
	{"omnigraph.nix", []string{"darwin", "linux"}},                   // a package for Nix
	{"install.sh", []string{"darwin", "linux"}},                      // for any shell
	{"omnigraph.json", []string{"windows"}},                          // a manifest for Scoop
	{"OmnigraphGo.Omnigraph.yaml", []string{"windows"}},              // three manifests for WinGet: this one names the other two,
	{"OmnigraphGo.Omnigraph.installer.yaml", []string{"windows"}},    // this one the archives,
	{"OmnigraphGo.Omnigraph.locale.en-US.yaml", []string{"windows"}}, // and this one has the description
}

//go:embed shelves
var shelfFiles embed.FS

// names are what the managers call operating systems and architectures, by manager and by Go's name.
var names = map[string]map[string]string{
	"brew":   {"darwin/arm64": "arm", "darwin/amd64": "intel", "linux/arm64": "arm64_linux", "linux/amd64": "x86_64_linux"},
	"nix":    {"darwin/arm64": "aarch64-darwin", "darwin/amd64": "x86_64-darwin", "linux/arm64": "aarch64-linux", "linux/amd64": "x86_64-linux"},
	"scoop":  {"windows/arm64": "arm64", "windows/amd64": "64bit"},
	"winget": {"windows/arm64": "arm64", "windows/amd64": "x64"},
}

// shelfTemplates are the templates of the files. Their function `name` returns what a manager calls a platform.
var shelfTemplates = template.Must(template.New("").Funcs(template.FuncMap{
	"name":  func(manager string, p artifact.Platform) string { return names[manager][p.String()] },
	"upper": strings.ToUpper,
}).ParseFS(shelfFiles, "shelves/*"))

// shelfArchive is an archive of the release.
type shelfArchive struct {
	Platform       artifact.Platform
	Stem, URL, Sum string // the folder in it, its address, and its SHA-256 sum in hexadecimal
}

// archives returns the archives in a folder for the operating systems.
func (b *builder) archives(dir string, systems []string) ([]shelfArchive, error) {
	var found []shelfArchive
	for _, p := range artifact.Platforms {
		if !slices.Contains(systems, p.OS) {
			continue
		}
		stem, ending := fmt.Sprintf("%s_%s_%s_%s", project, b.version, p.OS, p.Arch), ".tar.gz"
		if p.OS == "windows" {
			ending = ".zip"
		}
		content, err := os.ReadFile(filepath.Join(dir, stem+ending))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, shelfArchive{p, stem, b.download(stem + ending), artifact.Sum(content)})
	}
	return found, nil
}

// shelve writes the files of all shelves for the archives in a folder. The function `create` makes a file.
func (b *builder) shelve(dir string, create func(name string, write func(io.Writer) error) error) error {
	for _, shelf := range shelves {
		archives, err := b.archives(dir, shelf.os)
		if err != nil {
			return err
		}
		if len(archives) == 0 {
			continue
		}
		data := map[string]any{
			"Project": project, "Number": b.number(), "Tag": b.version, "Archives": archives, "Homepage": homepage, "Licence": licence,
			"Description": "Graph server with typed queries as tools for agents", "Programs": []string{"gq", "omnigraph", "omnigraph-server"},
		}
		err = create(shelf.name, func(w io.Writer) error { return shelfTemplates.ExecuteTemplate(w, shelf.name, data) })
		if err != nil {
			return err
		}
	}
	return nil
}

// chart writes the Helm chart of a checkout, with the version of the release.
func (b *builder) chart(w io.Writer, root string, at time.Time) error {
	files, err := artifact.ReadFiles(os.DirFS(filepath.Join(root, "docs", "deployment", "chart")), ".")
	if err != nil {
		return err
	}
	for i, f := range files {
		if f.Name == "Chart.yaml" {
			files[i].Data = bytes.ReplaceAll(f.Data, []byte("ersion: 0.0.0\n"), []byte("ersion: "+b.number()+"\n"))
		}
	}
	return artifact.WriteTarGz(w, artifact.Below(project, files), at)
}
