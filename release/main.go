// Command release builds the artifacts of a version of Omnigraph: archives, packages for Linux
// distributions, a container image, bundles for MCP clients, and the descriptions that package managers
// and the MCP registry read. It runs in the folder release of a checkout and starts no program but go.
//
//	release build -version v0.1.0 -out ../dist
//	release sign -version v0.1.0 -dist ../dist -builder https://… -key key.pem
//	release push -image ../dist/omnigraph_v0.1.0_image.tar -to ghcr.io/omnigraph-go/omnigraph:0.1.0
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// The project, as the descriptions name it.
const (
	project     = "omnigraph"
	module      = "github.com/omnigraph-go/omnigraph"
	homepage    = "https://" + module
	description = "A graph server for agents and teams, with typed queries as tools over MCP and REST"
	licence     = "Apache-2.0"
	maintainer  = "The Omnigraph authors <" + homepage + ">"

	// registryName is the name of the server in the MCP registry. The registry accepts an image only
	// if a label of the image has this name.
	registryName = "io.github.omnigraph-go/omnigraph"
	imageName    = "ghcr.io/omnigraph-go/omnigraph"

	// storage is the folder of the graphs in the image. The cluster.yaml of this repository names it.
	storage = "/app/data"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// run executes one command line.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("the command is missing; use build, sign or push")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "build":
		b := builder{stdout: stdout}
		flags.StringVar(&b.version, "version", "", "the version, such as v0.1.0")
		flags.StringVar(&b.commit, "commit", "", "the commit of the sources; may be empty")
		flags.StringVar(&b.out, "out", "../dist", "the folder of the artifacts, which must be empty or not exist")
		flags.StringVar(&b.root, "root", "..", "the checkout to build")
		platforms := flags.String("platforms", "", "the platforms as os/arch, separated by commas; all if empty")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		b.platforms = artifact.Platforms
		if *platforms != "" {
			b.platforms = nil
			for s := range strings.SplitSeq(*platforms, ",") {
				p, err := artifact.ParsePlatform(s)
				if err != nil {
					return err
				}
				b.platforms = append(b.platforms, p)
			}
		}
		return b.build(ctx)
	case "sign":
		s := signer{}
		flags.StringVar(&s.version, "version", "", "the version, such as v0.1.0")
		flags.StringVar(&s.commit, "commit", "", "the commit of the sources; may be empty")
		flags.StringVar(&s.dist, "dist", "../dist", "the folder of the artifacts")
		flags.StringVar(&s.builder, "builder", "", "the URI of what built the artifacts")
		flags.StringVar(&s.invocation, "invocation", "", "the URI of the run that built them; may be empty")
		flags.StringVar(&s.key, "key", "", "the PEM file of a private key; if it is empty, the GitHub workflow that runs this signs with its identity")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return s.sign(ctx)
	case "push":
		image := flags.String("image", "", "the tar archive of the image")
		to := flags.String("to", "", "the name of the image in a registry, with its tag")
		insecure := flags.Bool("insecure", false, "use http for the registry")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return push(ctx, *image, *to, *insecure)
	}
	return fmt.Errorf("unknown command %q; use build, sign or push", args[0])
}

// builder builds the artifacts of a version.
type builder struct {
	version, commit string              // the version with its v, and the commit of the sources
	root, out       string              // the checkout, and the folder of the artifacts
	platforms       []artifact.Platform // for which programs are built
	stdout          io.Writer           // receives the names of the artifacts
}

// commitID matches the ids of commits.
var commitID = regexp.MustCompile(`^[0-9a-f]*$`)

// number returns the version without its v, as most formats write it.
func (b *builder) number() string { return strings.TrimPrefix(b.version, "v") }

// build writes all artifacts.
func (b *builder) build(ctx context.Context) error {
	if !semver.IsValid(b.version) || semver.Canonical(b.version) != b.version {
		return fmt.Errorf("the version is %q; give one such as v0.1.0 or v0.1.0-rc.1", b.version)
	}
	if !commitID.MatchString(b.commit) {
		return fmt.Errorf("the commit is %q; give its hexadecimal id", b.commit)
	}
	at, err := artifact.Epoch()
	if err != nil {
		return err
	}
	root, err := filepath.Abs(b.root)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(b.out)
	if err != nil {
		return err
	}
	configuration, err := artifact.ReadFiles(os.DirFS(root), "cluster.yaml", "queries", "LICENSE", "README.md", "CHANGELOG.md")
	if err != nil {
		return err
	}
	release := artifact.Release{
		Name: project, Platforms: b.platforms, Time: at, Out: out, Configuration: without(configuration, ".go"), Log: b.stdout,
		Source: artifact.Source{
			Root: root, Packages: []string{"./cmd/gq", "./cmd/omnigraph", "./cmd/omnigraph-server"}, Version: b.version, Commit: b.commit,
		},
		Image: artifact.ServerImage(imageName+":"+b.number(), storage, map[string]string{
			"io.modelcontextprotocol.server.name": registryName,
			"org.opencontainers.image.version":    b.number(), "org.opencontainers.image.revision": b.commit,
			"org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": licence, "org.opencontainers.image.description": description,
		}),
		InImage: func(name string) bool {
			return name != "gq" && name != "README.md" && name != "CHANGELOG.md"
		},
	}
	if release.Authorities, err = authorities(); err != nil {
		return err
	}
	extras := packager{builder: b, release: &release, root: root}
	release.Packed = extras.pack
	if err := release.Write(ctx); err != nil {
		return err
	}
	if err := b.shelve(out, release.Create); err != nil {
		return err
	}
	if err := release.Create(project+"-"+b.number()+".tgz", func(w io.Writer) error { return b.chart(w, root, at) }); err != nil {
		return err
	}
	if err := release.Create("server.json", func(w io.Writer) error { return b.serverJSON(w, extras.bundles) }); err != nil {
		return err
	}
	return artifact.WriteSums(out)
}

// without returns the files whose names do not have the ending.
func without(files []artifact.File, ending string) []artifact.File {
	var kept []artifact.File
	for _, f := range files {
		if filepath.Ext(f.Name) != ending {
			kept = append(kept, f)
		}
	}
	return kept
}

// packager writes the artifacts of each platform that the archives do not cover.
type packager struct {
	*builder
	release *artifact.Release
	root    string // the checkout

	bundles []mcpBundle // the bundles for MCP clients that were written
}

// pack writes the packages and the bundle of a platform.
func (p *packager) pack(platform artifact.Platform, programs, files []artifact.File) error {
	if platform.OS == "linux" {
		if err := p.linuxPackages(platform, programs, files); err != nil {
			return err
		}
	}
	return p.bundle(platform, programs, files)
}
