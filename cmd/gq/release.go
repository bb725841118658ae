package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
	"github.com/omnigraph-go/omnigraph/internal/codegen/scaffold"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// releaseCommand makes the command gq release.
func releaseCommand() *cobra.Command {
	r := releaser{}
	cmd := &cobra.Command{
		Use:   "release VERSION [--platform OS/ARCH…] [--out DIR] [--ca-certificates FILE] [--commit ID]",
		Short: "Build the server of a module as archives and as a container image",
		Long: `Build the commands of the module in the current folder or a parent, and the command
omnigraph, and write to the folder dist:

  - for each platform an archive with the programs, cluster.yaml, the files that it names,
    and the licences of the modules in the programs
  - for each archive a software bill of materials (SPDX in JSON)
  - for the Linux platforms one OCI image as a tar archive, which docker load, podman load
    and other tools read
  - checksums.txt, which sha256sum -c reads

VERSION is the version of your module, such as v1.2.0; the programs report it. The command
needs Go and the module's folder, but no container engine. The same sources, Go release and
VERSION give the same bytes. All files in the artifacts have the time SOURCE_DATE_EPOCH, or
1980-01-01 if it is not set.

The image contains the certificates of authorities that it takes from this machine. Set
--ca-certificates to a file of your own, so that images built on two machines are equal.`,
		Example: `  gq release v1.2.0
  gq release v1.2.0 --platform linux/amd64,darwin/arm64 --out build`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{cmd, fmt.Errorf("got %d arguments; give only the version, such as v1.2.0", len(args))}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&r.platforms, "platform", []string{"linux/amd64", "linux/arm64"}, "build for the platform `OS/ARCH`")
	f.StringVar(&r.out, "out", "dist", "write to the folder `DIR`, which must be empty or not exist")
	f.StringVar(&r.authorities, "ca-certificates", "", "the `FILE` of certificates for the image, in PEM (default: that of this machine)")
	f.StringVar(&r.commit, "commit", "", "the commit `ID` of the sources, which the server reports")
	_ = cmd.MarkFlagDirname("out")
	_ = cmd.RegisterFlagCompletionFunc("commit", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("platform", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, p := range artifact.Platforms {
			names = append(names, p.String())
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}

// releaser runs gq release with the values of its flags.
type releaser struct {
	platforms   []string // such as linux/amd64
	out         string   // the folder of the artifacts
	authorities string   // the file of certificates; "" for that of this machine
	commit      string   // the commit of the sources; "" if it is not known
}

// commitID matches the ids of commits. The linker takes the id in a list that spaces separate.
var commitID = regexp.MustCompile(`^[0-9A-Za-z._-]*$`)

// imageTag returns the tag of the image of a version. A tag cannot have the plus sign before the build
// metadata of a version.
func imageTag(version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "+", "_")
}

// run runs gq release.
func (r *releaser) run(cmd *cobra.Command, version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != strings.TrimSuffix(version, semver.Build(version)) {
		return &usageError{cmd, fmt.Errorf("the version is %q; give one such as v1.2.0 or v1.2.0-rc.1", version)}
	}
	if !commitID.MatchString(r.commit) {
		return &usageError{cmd, fmt.Errorf("--commit is %q; give an id of letters, digits, dots, hyphens and underscores", r.commit)}
	}
	gomod, err := findUp("go.mod")
	if err != nil {
		return err
	}
	root := filepath.Dir(gomod)
	text, err := os.ReadFile(gomod)
	if err != nil {
		return err
	}
	modulePath := modfile.ModulePath(text)
	if modulePath == scaffold.Omnigraph {
		return errors.New("this is the module of Omnigraph itself; run make release VERSION=" + version)
	}
	name := (&scaffold.Module{Path: modulePath}).Image()
	at, err := artifact.Epoch()
	if err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	configuration, storage, err := configurationFiles(root)
	if err != nil {
		return err
	}
	authorities, err := r.certificates()
	if err != nil {
		return err
	}
	release := artifact.Release{
		Name: name, Time: at, Out: out, Configuration: configuration, Authorities: authorities, Log: cmd.OutOrStdout(), Progress: cmd.ErrOrStderr(),
		Source:  artifact.Source{Root: root, Packages: []string{"./cmd/...", scaffold.Omnigraph + "/cmd/omnigraph"}, Version: version, Commit: r.commit},
		Image:   artifact.ServerImage(name+":"+imageTag(version), storage, map[string]string{"org.opencontainers.image.version": version}),
		InImage: func(string) bool { return true },
	}
	for _, s := range r.platforms {
		p, err := artifact.ParsePlatform(s)
		if err != nil {
			return &usageError{cmd, fmt.Errorf("--platform: %w", err)}
		}
		if !slices.Contains(release.Platforms, p) {
			release.Platforms = append(release.Platforms, p)
		}
	}
	if err := release.Write(cmd.Context()); err != nil {
		return err
	}
	return artifact.WriteSums(out)
}

// configurationFiles returns cluster.yaml of the module in `root` with the files that it names, and
// the folder of the graphs in an image, where the folder of cluster.yaml is /app.
func configurationFiles(root string) (files []artifact.File, storage string, err error) {
	config, err := cluster.Read(filepath.Join(root, "cluster.yaml"))
	if err != nil {
		return nil, "", err
	}
	names := []string{config.File}
	for _, g := range config.Graphs {
		names = append(append(names, g.Schema, g.Policy), g.QueryFiles...)
	}
	names = append(names, config.ServerPolicy)
	var inside []string
	for _, name := range names {
		if name == "" {
			continue
		}
		rel, err := filepath.Rel(root, name)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, "", fmt.Errorf("cluster.yaml names the file %s, which is outside of the folder %s; move it into that folder, so that the archive and the image contain it", name, root)
		}
		inside = append(inside, filepath.ToSlash(rel))
	}
	if files, err = artifact.ReadFiles(os.DirFS(root), inside...); err != nil {
		return nil, "", err
	}
	storage = config.Folder()
	switch rel, err := filepath.Rel(root, storage); {
	case err == nil && filepath.IsLocal(rel) && rel != ".":
		storage = path.Join("/app", filepath.ToSlash(rel))
	case !path.IsAbs(storage) || path.Clean(storage) == "/":
		return nil, "", fmt.Errorf("cluster.yaml puts the graphs into %s; name a folder below that of cluster.yaml, or an absolute path, so that the image can contain it", cmp.Or(storage, "no folder"))
	}
	return files, storage, nil
}

// systemCertificates lists the files where Linux distributions and macOS keep the certificates of
// authorities.
var systemCertificates = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
}

// certificates returns the certificates of authorities for the image.
func (r *releaser) certificates() ([]byte, error) {
	if r.authorities != "" {
		return os.ReadFile(r.authorities)
	}
	for _, name := range systemCertificates {
		if b, err := os.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			return b, err
		}
	}
	return nil, errors.New("this machine has no file of the certificates of authorities; name one with --ca-certificates, which the server in the image uses to reach an issuer of tokens or a provider of embeddings")
}
