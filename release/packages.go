package main

import (
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// formats lists the formats of Linux packages. Alpine, which uses apk, has no systemd.
var formats = []struct {
	name    string // as nfpm names it, and the ending of the file
	systemd bool   // contains the units, and a script that creates the server's user
}{{"deb", true}, {"rpm", true}, {"apk", false}}

// units are the files of docs/deployment that packages contain.
var units = []string{"omnigraph.service", "omnigraph.socket"}

// sysusers creates the user and the group that the unit names.
const sysusers = "u omnigraph - \"Omnigraph\" /var/lib/omnigraph\n"

// afterInstall creates the server's user. dpkg sets DPKG_ROOT when it installs into another root.
//
//go:embed afterinstall.sh
var afterInstall string

// linuxPackages writes the packages for a platform in all formats.
func (p *packager) linuxPackages(platform artifact.Platform, programs, all []artifact.File) error {
	dir, err := os.MkdirTemp("", "omnigraph-package")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "afterinstall.sh")
	if err := os.WriteFile(script, []byte(afterInstall), 0o644); err != nil {
		return err
	}
	for _, format := range formats {
		content := packageFiles(programs, all)
		if format.systemd {
			systemd, err := p.systemdFiles()
			if err != nil {
				return err
			}
			content = append(content, systemd...)
		}
		info := &nfpm.Info{
			Name: project, Arch: platform.Arch, Platform: platform.OS, Version: p.version, Section: "database", Priority: "optional",
			Maintainer: maintainer, Vendor: "Omnigraph", Homepage: homepage, License: licence, Description: description,
			MTime: p.release.Time, DisableGlobbing: true,
			Overridables: nfpm.Overridables{Recommends: []string{"ca-certificates"}, RPM: nfpm.RPM{BuildHost: "localhost", Summary: description}},
		}
		if format.systemd {
			info.Scripts.PostInstall = script
		}
		for i, f := range content {
			source := filepath.Join(dir, format.name, fmt.Sprint(i))
			if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(source, f.Data, 0o644); err != nil {
				return err
			}
			info.Contents = append(info.Contents, &files.Content{
				Source: source, Destination: "/" + f.Name, Type: files.TypeFile,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.Mode, MTime: p.release.Time},
			})
		}
		packager, err := nfpm.Get(format.name)
		if err != nil {
			return err
		}
		info = nfpm.WithDefaults(info)
		if err := nfpm.PrepareForPackager(info, format.name); err != nil {
			return err
		}
		err = p.release.Create(p.release.Stem(platform)+"."+format.name, func(w io.Writer) error { return packager.Package(info, w) })
		if err != nil {
			return err
		}
	}
	return nil
}

// packageFiles places the files of an archive in the file system of a Linux distribution. A user
// copies cluster.yaml and the queries to /etc/omnigraph and changes them there, so that an upgrade of
// the package does not.
func packageFiles(programs, all []artifact.File) []artifact.File {
	out := artifact.Below("usr/bin", programs)
	for _, f := range all[len(programs):] {
		dir := "usr/share/doc/omnigraph"
		if f.Name == "cluster.yaml" || strings.HasPrefix(f.Name, "queries/") {
			dir = "usr/share/omnigraph"
		}
		f.Name = path.Join(dir, f.Name)
		out = append(out, f)
	}
	return out
}

// systemdFiles returns the units and the description of the server's user.
func (p *packager) systemdFiles() ([]artifact.File, error) {
	found, err := artifact.ReadFiles(os.DirFS(filepath.Join(p.root, "docs", "deployment")), units...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		text := strings.ReplaceAll(string(found[i].Data), "/usr/local/bin/", "/usr/bin/")
		found[i].Data = []byte(text)
	}
	return append(artifact.Below("usr/lib/systemd/system", found),
		artifact.File{Name: "usr/lib/sysusers.d/omnigraph.conf", Mode: fs.FileMode(0o644), Data: []byte(sysusers)}), nil
}
