package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/template"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// caskTemplate is the Homebrew cask. It removes the attribute with which macOS refuses programs that
// are not signed.
var caskTemplate = template.Must(template.New("cask").Parse(`cask "{{.Name}}" do
  arch arm: "arm64", intel: "amd64"
  os macos: "darwin", linux: "linux"

  version "{{.Version}}"
  sha256 {{range $i, $s := .Sums}}{{if $i}},
         {{end}}{{$s.Key}}: "{{$s.Sum}}"{{end}}

  url "{{.URL}}"
  name "Omnigraph"
  desc "{{.Description}}"
  homepage "{{.Homepage}}"
{{range .Programs}}
  binary "{{$.Folder}}/{{.}}"{{end}}

  postflight do
    if OS.mac?
      system_command "/usr/bin/xattr", args: ["-dr", "com.apple.quarantine", staged_path.to_s]
    end
  end
end
`))

// caskSum is the sum of the archive for a platform, with the key that a cask has for the platform.
type caskSum struct {
	Key, Sum string
	platform artifact.Platform
}

// cask writes the Homebrew cask for the archives in a folder. It leaves out the platforms that were
// not built.
func (b *builder) cask(w io.Writer, dir string) error {
	var sums []caskSum
	for _, s := range []caskSum{
		{"arm", "", artifact.Platform{OS: "darwin", Arch: "arm64"}}, {"intel", "", artifact.Platform{OS: "darwin", Arch: "amd64"}},
		{"arm64_linux", "", artifact.Platform{OS: "linux", Arch: "arm64"}}, {"x86_64_linux", "", artifact.Platform{OS: "linux", Arch: "amd64"}},
	} {
		archive, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s_%s_%s_%s.tar.gz", project, b.version, s.platform.OS, s.platform.Arch)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.Sum = artifact.Sum(archive)
		sums = append(sums, s)
	}
	folder := project + "_v#{version}_#{os}_#{arch}"
	return caskTemplate.Execute(w, map[string]any{
		"Name": project, "Version": b.number(), "Sums": sums, "Folder": folder, "Homepage": homepage,
		"URL": homepage + "/releases/download/v#{version}/" + folder + ".tar.gz", "Description": "Graph server with typed queries as tools for agents",
		"Programs": []string{"gq", "omnigraph", "omnigraph-server"},
	})
}
