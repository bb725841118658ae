package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// mcpBundle is an MCPB bundle, which a desktop client installs with one click.
type mcpBundle struct{ name, sum string } // the file name, and the SHA-256 sum of the file

// The types below are the manifest of an MCPB bundle, version 0.4.
type (
	bundleManifest struct {
		ManifestVersion string                 `json:"manifest_version"`
		Name            string                 `json:"name"`
		DisplayName     string                 `json:"display_name"`
		Version         string                 `json:"version"`
		Description     string                 `json:"description"`
		Author          bundleAuthor           `json:"author"`
		Repository      bundleRepository       `json:"repository"`
		Homepage        string                 `json:"homepage"`
		Licence         string                 `json:"license"`
		Server          bundleServer           `json:"server"`
		ToolsGenerated  bool                   `json:"tools_generated"` // the tools depend on the graph
		Compatibility   bundleCompatibility    `json:"compatibility"`
		UserConfig      map[string]bundleField `json:"user_config"`
	}
	bundleAuthor struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	bundleRepository struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	bundleServer struct {
		Type       string        `json:"type"`
		EntryPoint string        `json:"entry_point"`
		Config     bundleCommand `json:"mcp_config"`
	}
	bundleCommand struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	bundleCompatibility struct {
		Platforms []string `json:"platforms"`
	}
	bundleField struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Sensitive   bool   `json:"sensitive,omitempty"`
		Default     string `json:"default,omitempty"`
	}
)

// bundlePlatforms maps Go's names of operating systems to those of bundles.
var bundlePlatforms = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}

// The settings that a client asks the user for, here and in server.json.
const (
	urlText   = "The URL of an Omnigraph server, such as https://graph.example.com"
	graphText = "The id of a graph of the server"
	tokenText = "The bearer token that identifies you to the server"
	tokenVar  = "OMNIGRAPH_TOKEN"
)

// manifest returns the manifest of the bundle for a platform. The bundle runs `omnigraph mcp serve`,
// which connects the client with a graph of a server.
func (b *builder) manifest(p artifact.Platform, program string) bundleManifest {
	entry := "server/" + program
	return bundleManifest{
		ManifestVersion: "0.4", Name: project, DisplayName: "Omnigraph", Version: b.number(), Description: description,
		Author:     bundleAuthor{"The Omnigraph authors", homepage},
		Repository: bundleRepository{"git", homepage}, Homepage: homepage, Licence: licence,
		Server: bundleServer{"binary", entry, bundleCommand{
			Command: "${__dirname}/" + entry,
			Args:    []string{"mcp", "serve", "--server", "${user_config.server_url}", "--graph", "${user_config.graph}"},
			Env:     map[string]string{tokenVar: "${user_config.token}"},
		}},
		ToolsGenerated: true, Compatibility: bundleCompatibility{[]string{bundlePlatforms[p.OS]}},
		UserConfig: map[string]bundleField{
			"server_url": {Type: "string", Title: "Server", Description: urlText, Required: true},
			"graph":      {Type: "string", Title: "Graph", Description: graphText, Required: true},
			"token":      {Type: "string", Title: "Token", Description: tokenText, Required: true, Sensitive: true},
		},
	}
}

// bundle writes the MCPB bundle of a platform.
func (p *packager) bundle(platform artifact.Platform, programs, all []artifact.File) error {
	i := slices.IndexFunc(programs, func(f artifact.File) bool { return strings.TrimSuffix(f.Name, ".exe") == project })
	manifest, err := json.MarshalIndent(p.manifest(platform, programs[i].Name), "", "  ")
	if err != nil {
		return err
	}
	content := append([]artifact.File{{Name: "manifest.json", Mode: 0o644, Data: append(manifest, '\n')}}, artifact.Below("server", programs[i:i+1])...)
	for _, f := range all {
		if f.Name == "LICENSE" || f.Name == "THIRD-PARTY-LICENCES" {
			content = append(content, f)
		}
	}
	var archive bytes.Buffer
	if err := artifact.WriteZip(&archive, content, p.release.Time); err != nil {
		return err
	}
	name := p.release.Stem(platform) + ".mcpb"
	p.bundles = append(p.bundles, mcpBundle{name, artifact.Sum(archive.Bytes())})
	return p.release.Create(name, func(w io.Writer) error { _, err := w.Write(archive.Bytes()); return err })
}

// The types below are the part of server.json, schema 2025-12-11, that this server needs.
type (
	registryServer struct {
		Schema      string             `json:"$schema"`
		Name        string             `json:"name"`
		Title       string             `json:"title"`
		Description string             `json:"description"`
		Version     string             `json:"version"`
		Repository  registryRepository `json:"repository"`
		Packages    []registryPackage  `json:"packages"`
	}
	registryRepository struct {
		URL    string `json:"url"`
		Source string `json:"source"`
	}
	registryPackage struct {
		Type        string             `json:"registryType"`
		Identifier  string             `json:"identifier"`
		Version     string             `json:"version,omitempty"` // an image has it in its identifier
		Sum         string             `json:"fileSha256,omitempty"`
		RuntimeHint string             `json:"runtimeHint,omitempty"`
		RuntimeArgs []registryArgument `json:"runtimeArguments,omitempty"`
		PackageArgs []registryArgument `json:"packageArguments,omitempty"`
		Environment []registryInput    `json:"environmentVariables,omitempty"`
		Transport   registryTransport  `json:"transport"`
	}
	registryArgument struct {
		Type      string                   `json:"type"` // named or positional
		Name      string                   `json:"name,omitempty"`
		Value     string                   `json:"value"`
		Variables map[string]registryInput `json:"variables,omitempty"`
	}
	registryInput struct {
		Name        string `json:"name,omitempty"`
		Description string `json:"description"`
		Format      string `json:"format"`
		Required    bool   `json:"isRequired"`
		Secret      bool   `json:"isSecret,omitempty"`
	}
	registryTransport struct {
		Type string `json:"type"`
	}
)

// registrySchema identifies the schema of server.json.
const registrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

// serverJSON writes the description of the server for the MCP registry. A client that installs one
// of the packages runs `omnigraph mcp serve` and talks to it over standard input and output.
func (b *builder) serverJSON(w io.Writer, bundles []mcpBundle) error {
	stdio := registryTransport{"stdio"}
	args := []registryArgument{
		{Type: "positional", Value: "mcp"}, {Type: "positional", Value: "serve"},
		{Type: "named", Name: "--server", Value: "{server_url}", Variables: map[string]registryInput{
			"server_url": {Description: urlText, Format: "string", Required: true},
		}},
		{Type: "named", Name: "--graph", Value: "{graph}", Variables: map[string]registryInput{
			"graph": {Description: graphText, Format: "string", Required: true},
		}},
	}
	token := []registryInput{{Name: tokenVar, Description: tokenText, Format: "string", Required: true, Secret: true}}
	server := registryServer{
		Schema: registrySchema, Name: registryName, Title: "Omnigraph", Description: description, Version: b.number(),
		Repository: registryRepository{homepage, "github"},
		Packages: []registryPackage{{
			Type: "oci", Identifier: imageName + ":" + b.number(), RuntimeHint: "docker", Transport: stdio,
			RuntimeArgs: []registryArgument{{Type: "named", Name: "--entrypoint", Value: "/usr/local/bin/omnigraph"}},
			PackageArgs: args, Environment: token,
		}},
	}
	for _, bundle := range bundles {
		server.Packages = append(server.Packages, registryPackage{
			Type: "mcpb", Identifier: b.download(bundle.name), Version: b.number(), Sum: bundle.sum, Transport: stdio,
		})
	}
	text, err := json.MarshalIndent(server, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// download returns the address of an artifact of this version.
func (b *builder) download(name string) string {
	return homepage + "/releases/download/" + b.version + "/" + name
}
